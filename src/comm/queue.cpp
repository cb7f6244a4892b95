#include "comm/queue.hpp"

#include "core/cuda_error.hpp"
#include "core/views.hpp"

namespace annulus::comm {

Queue::Queue() {
  check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  exec_ = std::make_shared<Exec>(stream_);
}

Queue::~Queue() {
  exec_.reset();  // before its stream is gone
  cudaStreamDestroy(stream_);
}

}  // namespace annulus::comm
