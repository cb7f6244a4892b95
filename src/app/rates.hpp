/// How fast this machine moves, multiplies and passes on, all ranks at once; for files that do not see Kokkos.
#pragma once
#include "comm/communicator.hpp"

namespace annulus::app {

struct Rates {
  double copy_gb_s;     ///< read and written together, per rank
  double gemm_gflop_s;  ///< fp32, 1024 x 1024 x 1024, per rank
  double ring_gb_s;     ///< 8 MiB to the next rank, sent per rank; 0 with one rank
  double ring_us;       ///< the same with 1 KiB: time of a hop
};

/// Collective over `world`; Kokkos runs. The slowest rank's rates.
Rates measured_rates(comm::Communicator& world);

}  // namespace annulus::app
