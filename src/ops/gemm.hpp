/// Matrix products through the vendor's library behind one seam: oneDNN on hosts (fp32, bf16), BLAS for fp64 and where
/// oneDNN is missing, cuBLASLt on NVIDIA GPUs. Results do not depend on the number of threads: the seam fixes how sums
/// over the inner dimension are split.
#pragma once
#include "core/views.hpp"
#include "ops/gemm_description.hpp"

namespace annulus::ops {

/// A row-major matrix in memory whose rows may lie further apart than they are long.
template <class T>
struct Operand {
  T* data;
  index_t rows, columns;  ///< as stored
  index_t stride;         ///< elements from one row to the next, >= columns
  bool transposed = false;

  template <class View>
  Operand(const View& view) requires requires {
    view.stride(0);
  } : data(view.data()), rows(view.extent(0)), columns(view.extent(1)), stride(view.extent(1)) {
  }
  Operand(T* data, index_t rows, index_t columns, index_t stride)
      : data(data), rows(rows), columns(columns), stride(stride) {}
};
/// The same matrix, to be read transposed.
template <class T>
Operand<T> transposed(Operand<T> a) {
  a.transposed = !a.transposed;
  return a;
}

/// c = a b (or c += a b). In is what a and b hold, Out what c holds; instantiated for (float, float), (double, double),
/// (bf16, bf16) and (bf16, float). Sums are carried in Accum<In>. Any extent may be 0. A bf16 c that is added to is
/// rounded once on hosts; cuBLASLt rounds the product first, as PyTorch's addmm does.
template <class In, class Out = In>
struct Gemm {
  static void run(const Exec& exec, Operand<const In> a, Operand<const In> b, Into into, Operand<Out> c);
};

}  // namespace annulus::ops
