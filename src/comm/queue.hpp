/// What host-compiled files need of CUDA streams and the execution instances on them.
#pragma once
#include <memory>

#include "core/exec.hpp"

struct CUstream_st;

namespace annulus::comm {

/// The stream that `exec` issues to.
CUstream_st* stream_of(const Exec& exec);

/// A non-blocking stream of its own and the execution instance on it.
class Queue {
 public:
  Queue();
  ~Queue();  ///< does not wait for the stream
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  CUstream_st* stream() const { return stream_; }
  const Exec& exec() const { return *exec_; }

 private:
  CUstream_st* stream_ = nullptr;
  std::shared_ptr<Exec> exec_;  ///< shared: its type is incomplete here
};

}  // namespace annulus::comm
