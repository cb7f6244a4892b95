/// Which library multiplies matrices here, for files that do not see Kokkos.
#pragma once
#include <string>

namespace annulus::ops {

/// "oneDNN 2.6.3, avx512_core_amx", "KokkosBlas (OpenBLAS, SkylakeX)" ...: for the start block and doctor.
std::string gemm_description();

}  // namespace annulus::ops
