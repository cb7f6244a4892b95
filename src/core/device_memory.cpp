#include "core/device_memory.hpp"

#include "core/views.hpp"
#ifdef ANNULUS_CUDA
#include "core/cuda_error.hpp"
#endif

namespace annulus {

std::optional<DeviceMemory> device_memory() {
#ifdef ANNULUS_CUDA
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return DeviceMemory{static_cast<index_t>(total - free), static_cast<index_t>(total)};
#else
  return std::nullopt;
#endif
}

}  // namespace annulus
