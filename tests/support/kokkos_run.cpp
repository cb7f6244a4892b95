#include "support/kokkos_run.hpp"

#include <Kokkos_Core.hpp>
#include <cstdlib>

namespace annulus::test {

KokkosRun::KokkosRun(int threads) {
  Kokkos::InitializationSettings settings;
  settings.set_disable_warnings(true);  // of unbound threads: ranks share cores here
  if (!std::getenv("OMP_NUM_THREADS") && !std::getenv("KOKKOS_NUM_THREADS")) settings.set_num_threads(threads);
  Kokkos::initialize(settings);
}

KokkosRun::~KokkosRun() { Kokkos::finalize(); }

}  // namespace annulus::test
