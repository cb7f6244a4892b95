/// The residual add and the norm that follows it, in one pass: sum = x + branch, y = sum * rstd * gain (RmsNorm of
/// sum). R is the residual stream's type, T the compute type: instantiated for (float, float), (double, double), (bf16,
/// bf16) and (bf16, float). Backward is RmsNorm's with Into::add on the residual's gradient.
#pragma once
#include "core/views.hpp"

namespace annulus::ops {

template <class T, class R = T>
struct ResidualNorm {
  ///   x       (tokens, width)  in
  ///   branch  (tokens, width)  in
  ///   gain    (width)          in
  ///   sum     (tokens, width)  out; may be x
  ///   y       (tokens, width)  out; may be branch where T is R
  ///   rstd    (tokens)         out
  static void forward(const Exec& exec, Matrix<const R> x, Matrix<const T> branch, Vector<const T> gain, double eps,
                      Matrix<R> sum, Matrix<T> y, Vector<Accum<T>> rstd);
};

}  // namespace annulus::ops
