/// hidden = silu(gate) * up, silu(x) = x / (1 + exp(-x)) (Shazeer 2020, GLU Variants Improve Transformer).
#pragma once
#include "core/views.hpp"

namespace annulus::ops {

template <class T>
struct SwiGlu {
  ///   gate_up  (tokens, 2 ffn)  in: gate | up
  ///   hidden   (tokens, ffn)    out
  static void forward(const Exec& exec, Matrix<const T> gate_up, Matrix<T> hidden);
  ///   dhidden   (tokens, ffn)    in
  ///   dgate_up  (tokens, 2 ffn)  out; may be gate_up
  static void backward(const Exec& exec, Matrix<const T> dhidden, Matrix<const T> gate_up, Matrix<T> dgate_up);
};

}  // namespace annulus::ops
