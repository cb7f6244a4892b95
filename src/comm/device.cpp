#include "comm/device.hpp"

#include "core/start_copy.hpp"
#include "core/views.hpp"

namespace annulus::comm {

void finish(const Exec& exec) { exec.fence("annulus::comm::finish"); }

void copy(const Exec& exec, void* to, const void* from, index_t bytes) {
  start_copy(exec, to, from, bytes);
  finish(exec);
}

void StagingFree::operator()(void* buffer) const { Kokkos::kokkos_free<Kokkos::SharedHostPinnedSpace>(buffer); }

StagingBuffer staging_buffer(index_t bytes) {
  return StagingBuffer(Kokkos::kokkos_malloc<Kokkos::SharedHostPinnedSpace>("annulus::comm::staging", bytes));
}

}  // namespace annulus::comm
