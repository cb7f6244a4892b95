/// Which library multiplies matrices here, for files that do not see Kokkos.
#pragma once
#include <string>

#include "core/types.hpp"

namespace annulus::ops {

/// "oneDNN 2.6.3, avx512_core_amx", "KokkosBlas (OpenBLAS, SkylakeX)" ...: for the start block and doctor.
std::string gemm_description();

/// Device memory, in bytes, that products take for themselves for each queue they run on; 0 on hosts.
index_t gemm_device_memory();

}  // namespace annulus::ops
