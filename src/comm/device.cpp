#include "comm/device.hpp"

#include <cstring>

#include "core/error.hpp"
#include "core/views.hpp"

namespace annulus::comm {

void finish(const Exec& exec) { exec.fence("annulus::comm::finish"); }

void StagingFree::operator()(void* buffer) const { Kokkos::kokkos_free<Kokkos::SharedHostPinnedSpace>(buffer); }

#ifdef ANNULUS_CUDA

namespace {

void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) throw Error(Exit::internal, std::string(call) + ": " + cudaGetErrorString(code));
}

class Event : public Ticket::Pending {
 public:
  explicit Event(const Exec& exec) {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    check(cudaEventRecord(event_, exec.cuda_stream()), "cudaEventRecord");
  }
  ~Event() override { cudaEventDestroy(event_); }
  void wait(const Exec& exec) override {
    check(cudaStreamWaitEvent(exec.cuda_stream(), event_), "cudaStreamWaitEvent");
  }

 private:
  cudaEvent_t event_;
};

}  // namespace

Ticket given_so_far(const Exec& exec) { return Ticket(std::make_shared<Event>(exec)); }

void copy(const Exec& exec, void* to, const void* from, index_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, exec.cuda_stream()), "cudaMemcpyAsync");
  finish(exec);
}

#else

Ticket given_so_far(const Exec&) { return {}; }

void copy(const Exec& exec, void* to, const void* from, index_t bytes) {
  finish(exec);
  if (bytes > 0) std::memmove(to, from, bytes);
}

#endif

StagingBuffer staging_buffer(index_t bytes) {
  return StagingBuffer(Kokkos::kokkos_malloc<Kokkos::SharedHostPinnedSpace>("annulus::comm::staging", bytes));
}

}  // namespace annulus::comm
