/// Products by cuBLASLt, for files without Kokkos; only gemm.cpp calls it.
#pragma once
#include <cuda_runtime_api.h>

#include <string>

#include "core/types.hpp"

namespace annulus::ops {

/// A row-major matrix as stored; `transposed`: to be read so.
struct StoredMatrix {
  void* data;
  index_t rows, columns, stride;
  bool transposed = false;
};

/// c = a b (or c += a b) on `stream`, in: bf16 or fp32 (no tf32), out: `in` or fp32, sums in fp32. A shape's algorithm
/// is chosen when it is first met; later calls neither allocate nor wait. Throws Error(Exit::internal).
void cublaslt_product(cudaStream_t stream, Scalar in, Scalar out, const StoredMatrix& a, const StoredMatrix& b,
                      Into into, const StoredMatrix& c);

/// Memory that each stream with products takes from the device, in bytes.
inline constexpr index_t cublaslt_workspace = index_t(32) << 20;  // what NVIDIA advises for Hopper

/// "cuBLASLt 13.0.0".
std::string cublaslt_description();

}  // namespace annulus::ops
