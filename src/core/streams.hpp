/// The four queues of a rank and the execution instances built on them. On a GPU each is a non-blocking stream of its
/// own (a default-flag stream would serialise with stream 0); on a host all four are the one OpenMP instance.
#pragma once
#include <memory>

#include "core/exec.hpp"

namespace annulus {

class Streams {
 public:
  Streams();  ///< Kokkos must be initialised
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  const Exec& compute() const;  ///< operators
  const Exec& ring() const;     ///< KV blocks on their way
  const Exec& reduce() const;   ///< gradients on their way
  const Exec& copy() const;     ///< batches in, metrics out

 private:
  struct Queues;
  std::unique_ptr<Queues> queues_;
};

}  // namespace annulus
