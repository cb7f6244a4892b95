/// Names the execution space without Kokkos's headers, for rooms that only pass it on.
#pragma once

namespace Kokkos {
class Cuda;
class OpenMP;
}  // namespace Kokkos

namespace annulus {

#ifdef ANNULUS_CUDA
using Exec = Kokkos::Cuda;
#else
using Exec = Kokkos::OpenMP;
#endif

}  // namespace annulus
