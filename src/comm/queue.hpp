/// CUDA streams with the execution instances on them, for host-compiled files.
#pragma once
#include <memory>

#include "core/exec.hpp"

struct CUstream_st;

namespace annulus::comm {

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
