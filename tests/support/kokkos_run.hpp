/// Kokkos, from here to the end of the scope.
#pragma once

namespace annulus::test {

class KokkosRun {
 public:
  /// With `threads` threads, unless the environment says how many; Kokkos's own default takes all cores on each rank.
  explicit KokkosRun(int threads);
  ~KokkosRun();
  KokkosRun(const KokkosRun&) = delete;
  KokkosRun& operator=(const KokkosRun&) = delete;
};

}  // namespace annulus::test
