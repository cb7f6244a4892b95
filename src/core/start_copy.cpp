#include "core/start_copy.hpp"

#include <cstring>

#include "core/views.hpp"
#ifdef ANNULUS_CUDA
#include "core/cuda_error.hpp"
#endif

namespace annulus {

void start_copy(const Exec& exec, void* to, const void* from, index_t bytes) {
  if (bytes == 0) return;
#ifdef ANNULUS_CUDA
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, exec.cuda_stream()), "cudaMemcpyAsync");
#else
  exec.fence("annulus::core::start_copy");
  std::memmove(to, from, bytes);
#endif
}

}  // namespace annulus
