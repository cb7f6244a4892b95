#include "comm/pause.hpp"

#include <chrono>
#include <thread>

#include "core/views.hpp"

namespace annulus::comm {

#ifdef ANNULUS_CUDA
namespace {

/// Nanoseconds; 0 in the host's copy of a kernel, which never runs.
KOKKOS_INLINE_FUNCTION std::uint64_t device_clock() {
  std::uint64_t now = 0;
#ifdef __CUDA_ARCH__
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
#endif
  return now;
}

}  // namespace

void pause(const Exec& exec, double microseconds) {
  const auto nanoseconds = static_cast<std::uint64_t>(1e3 * microseconds);
  Kokkos::parallel_for(
      "annulus::comm::pause", Kokkos::RangePolicy<Exec>(exec, 0, 1), KOKKOS_LAMBDA(int) {
        const std::uint64_t begin = device_clock();
        while (device_clock() - begin < nanoseconds) {
        }
      });
}
#else
void pause(const Exec&, double microseconds) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(microseconds));
}
#endif

}  // namespace annulus::comm
