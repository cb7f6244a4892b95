#include "core/kokkos_session.hpp"

#include "core/text.hpp"
#include "core/views.hpp"

namespace annulus {

KokkosSession::KokkosSession(int threads, [[maybe_unused]] int device) {
  Kokkos::InitializationSettings settings;
  settings.set_num_threads(threads);
  settings.set_disable_warnings(true);  // of threads that nobody binds: ranks may share cores
#ifdef ANNULUS_CUDA
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) settings.set_device_id(device % devices);
#endif
  Kokkos::initialize(settings);
}

KokkosSession::~KokkosSession() { Kokkos::finalize(); }

std::string KokkosSession::description() {
#ifdef ANNULUS_CUDA
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, Kokkos::device_id());
  return text("Cuda, ", properties.name);
#else
  const int threads = Kokkos::num_threads();
  return text("OpenMP, ", threads, threads == 1 ? " thread" : " threads", " a rank");
#endif
}

std::string KokkosSession::missing_device() {
#ifdef ANNULUS_CUDA
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  if (code != cudaSuccess || devices == 0)
    return std::string("no CUDA device: ") + (code == cudaSuccess ? "none is visible" : cudaGetErrorString(code));
#endif
  return "";
}

}  // namespace annulus
