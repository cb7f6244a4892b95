#include "comm/events.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "comm/queue.hpp"
#include "core/error.hpp"

namespace annulus::comm {

void check_cuda(cudaError_t code, const char* call) {
  if (code != cudaSuccess) throw Error(Exit::internal, std::string(call) + ": " + cudaGetErrorString(code));
}

Event::Event() { check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags"); }
Event::~Event() { cudaEventDestroy(event_); }
void Event::record(cudaStream_t stream) { check_cuda(cudaEventRecord(event_, stream), "cudaEventRecord"); }
void Event::wait(cudaStream_t stream) const {
  check_cuda(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent");
}
void Event::wait(const Exec& exec) { wait(stream_of(exec)); }

bool Event::reached() const {
  const cudaError_t code = cudaEventQuery(event_);
  if (code == cudaErrorNotReady) {
    cudaGetLastError();  // forgets it: whoever asks next would take it for a failure
    return false;
  }
  check_cuda(code, "cudaEventQuery");
  return true;
}

std::shared_ptr<Event> EventPool::record(cudaStream_t stream) {
  auto free = std::find_if(events_.begin(), events_.end(), [](const auto& event) { return event.use_count() == 1; });
  if (free == events_.end()) free = events_.insert(events_.end(), std::make_shared<Event>());
  (*free)->record(stream);
  return *free;
}

}  // namespace annulus::comm
