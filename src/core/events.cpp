#include "core/events.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/views.hpp"
#ifdef ANNULUS_CUDA
#include "core/cuda_error.hpp"
#endif

namespace annulus {

#ifdef ANNULUS_CUDA

void check_cuda(cudaError_t code, const char* call) {
  if (code != cudaSuccess) throw Error(Exit::internal, std::string(call) + ": " + cudaGetErrorString(code));
}

Event::Event() { check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags"); }
Event::~Event() { cudaEventDestroy(event_); }
void Event::record(const Exec& exec) { check_cuda(cudaEventRecord(event_, exec.cuda_stream()), "cudaEventRecord"); }
void Event::wait(const Exec& exec) const {
  check_cuda(cudaStreamWaitEvent(exec.cuda_stream(), event_, 0), "cudaStreamWaitEvent");
}

bool Event::reached() const {
  const cudaError_t code = cudaEventQuery(event_);
  if (code == cudaErrorNotReady) {
    cudaGetLastError();  // forgets it: whoever asks next would take it for a failure
    return false;
  }
  check_cuda(code, "cudaEventQuery");
  return true;
}

void Event::block() const {
  if (!reached()) check_cuda(cudaEventSynchronize(event_), "cudaEventSynchronize");
}

#else

Event::Event() = default;
Event::~Event() = default;
void Event::record(const Exec&) {}
void Event::wait(const Exec&) const {}
bool Event::reached() const { return true; }
void Event::block() const {}

#endif

std::shared_ptr<Event> EventPool::record(const Exec& exec) {
  auto free = std::find_if(events_.begin(), events_.end(), [](const auto& event) { return event.use_count() == 1; });
  if (free == events_.end()) free = events_.insert(events_.end(), std::make_shared<Event>());
  (*free)->record(exec);
  return *free;
}

}  // namespace annulus
