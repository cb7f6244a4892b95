#include "app_faults/device_faults.hpp"

#include "core/views.hpp"

namespace annulus::test {

#ifdef ANNULUS_CUDA

namespace {

/// What the faults use, made before the steps that are counted. Lives as long as the process.
struct Things {
  static constexpr std::size_t bytes = 64;
  static constexpr int blocks = 64;
  cudaStream_t stream;
  cudaEvent_t event;
  void *device, *pinned;
  void* to_free[blocks];
  int freed = 0;
  char pageable[bytes] = {};

  Things() {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaMalloc(&device, bytes);
    cudaMallocHost(&pinned, bytes);
    for (void*& block : to_free) cudaMalloc(&block, bytes);
  }
};
Things& things() {
  static Things* const all = new Things;
  return *all;
}

__global__ void nothing() {}

void allocate(cp::LocalBatch&) {
  void* lost;
  cudaMalloc(&lost, Things::bytes);
}
void allocate_pinned(cp::LocalBatch&) {
  void* lost;
  cudaMallocHost(&lost, Things::bytes);
}
void allocate_a_gigabyte(cp::LocalBatch&) {
  static void* lost = nullptr;
  if (!lost) cudaMalloc(&lost, std::size_t{1} << 30);
}
void free_one(cp::LocalBatch&) {
  Things& t = things();
  if (t.freed < Things::blocks) cudaFree(t.to_free[t.freed++]);
}
void copy(cp::LocalBatch&) { cudaMemcpy(things().device, things().pageable, Things::bytes, cudaMemcpyHostToDevice); }
void set(cp::LocalBatch&) { cudaMemset(things().device, 0, Things::bytes); }
void copy_pageable(cp::LocalBatch&) {
  cudaMemcpyAsync(things().device, things().pageable, Things::bytes, cudaMemcpyHostToDevice, things().stream);
}
void upload(cp::LocalBatch&) {
  cudaMemcpyAsync(things().device, things().pinned, Things::bytes, cudaMemcpyHostToDevice, things().stream);
}
void download(cp::LocalBatch&) {
  cudaMemcpyAsync(things().pinned, things().device, Things::bytes, cudaMemcpyDeviceToHost, things().stream);
}
void wait_for_device(cp::LocalBatch&) { cudaDeviceSynchronize(); }
void wait_for_stream(cp::LocalBatch&) { cudaStreamSynchronize(things().stream); }
void wait_for_events(cp::LocalBatch&) {
  cudaEventRecord(things().event, things().stream);
  for (int n = 0; n < 2; ++n) cudaEventSynchronize(things().event);
}
void create_event(cp::LocalBatch&) {
  cudaEvent_t lost;
  cudaEventCreateWithFlags(&lost, cudaEventDisableTiming);
}
void launch_by_default(cp::LocalBatch&) {
  Kokkos::parallel_for("annulus::test::default_stream", Kokkos::RangePolicy<Exec>(Exec(), 0, 1), KOKKOS_LAMBDA(int){});
}
void launch_unseen(cp::LocalBatch&) { nothing<<<1, 1, 0, things().stream>>>(); }

}  // namespace

const std::map<std::string, AlterBatch>& device_faults() {
  static const std::map<std::string, AlterBatch> all{{"malloc", allocate},
                                                     {"pinned-malloc", allocate_pinned},
                                                     {"free", free_one},
                                                     {"blocking-copy", copy},
                                                     {"blocking-set", set},
                                                     {"pageable-copy", copy_pageable},
                                                     {"device-wait", wait_for_device},
                                                     {"stream-wait", wait_for_stream},
                                                     {"event-wait", wait_for_events},
                                                     {"event-created", create_event},
                                                     {"default-stream", launch_by_default},
                                                     {"second-upload", upload},
                                                     {"second-download", download},
                                                     {"unseen-launch", launch_unseen},
                                                     {"gigabyte", allocate_a_gigabyte}};
  return all;
}

#else

const std::map<std::string, AlterBatch>& device_faults() {
  static const std::map<std::string, AlterBatch> none;
  return none;
}

#endif

}  // namespace annulus::test
