/// What stands behind the seam of gemm.hpp; only gemm.cpp calls it. On a host each call is one tile of a product,
/// formed by the calling thread alone.
#pragma once
#include <string>

#include "core/bf16.hpp"
#include "ops/gemm.hpp"

namespace annulus::ops {

template <class T>
index_t rows_of(const Operand<T>& a) {
  return a.transposed ? a.columns : a.rows;
}
template <class T>
index_t columns_of(const Operand<T>& a) {
  return a.transposed ? a.rows : a.columns;
}

#ifdef ANNULUS_ONEDNN
void onednn_product(const Operand<const float>& a, const Operand<const float>& b, Into into, const Operand<float>& c);
/// Out: float or bf16. Only where onednn_has_bf16().
template <class Out>
void onednn_product(const Operand<const bf16>& a, const Operand<const bf16>& b, Into into, const Operand<Out>& c);
bool onednn_has_bf16();
/// "oneDNN 2.6.3, avx512_core_amx".
std::string onednn_description();
#endif

/// T: float or double.
template <class T>
void blas_product(const Exec& exec, const Operand<const T>& a, const Operand<const T>& b, Into into,
                  const Operand<T>& c);
/// "KokkosBlas (OpenBLAS 0.3.21, SkylakeX)", "KokkosBlas (cuBLAS)".
std::string blas_description();

}  // namespace annulus::ops
