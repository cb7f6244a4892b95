/// A projection y = x w^T without bias and its gradients, as products of the gemm seam.
///   x (tokens, in)   w (out, in)   y (tokens, out)
#pragma once
#include "ops/gemm.hpp"

namespace annulus::model {

template <class T>
struct Linear {
  using A = Accum<T>;

  /// y = x w^T
  static void forward(const Exec& exec, Matrix<const T> x, Matrix<const T> w, Matrix<T> y) {
    ops::Gemm<T>::run(exec, x, ops::transposed(ops::Operand<const T>(w)), Into::overwrite, y);
  }
  /// dx = dy w
  static void input_gradient(const Exec& exec, Matrix<const T> dy, Matrix<const T> w, Matrix<T> dx) {
    ops::Gemm<T>::run(exec, dy, w, Into::overwrite, dx);
  }
  /// dw = dy^T x, or dw += dy^T x: this rank's tokens, not yet reduced
  static void weight_gradient(const Exec& exec, Matrix<const T> dy, Matrix<const T> x, Into into, Matrix<A> dw) {
    ops::Gemm<T, A>::run(exec, ops::transposed(ops::Operand<const T>(dy)), x, into, dw);
  }
};

}  // namespace annulus::model
