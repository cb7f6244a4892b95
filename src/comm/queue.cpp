#include "comm/queue.hpp"

#include "core/error.hpp"
#include "core/views.hpp"

namespace annulus::comm {

CUstream_st* stream_of(const Exec& exec) { return exec.cuda_stream(); }

Queue::Queue() {
  if (const cudaError_t code = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking); code != cudaSuccess)
    throw Error(Exit::internal, std::string("cudaStreamCreateWithFlags: ") + cudaGetErrorString(code));
  exec_ = std::make_shared<Exec>(stream_);
}

Queue::~Queue() {
  exec_.reset();  // before its stream is gone
  cudaStreamDestroy(stream_);
}

}  // namespace annulus::comm
