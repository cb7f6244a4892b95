/// The output projection and the cross-entropy of its logits, a chunk of tokens at a time: the logits of all tokens
/// never exist together. Forms dX and dW on the way, so that the head has no backward pass of its own.
///   nll_t = log(sum_c exp(x_t . w_c)) - x_t . w_label(t);   loss = weight * sum of nll over tokens with a label
#pragma once
#include "core/views.hpp"

namespace annulus::ops {

template <class T>
struct LmLoss {
  using A = Accum<T>;
  ///   x          (tokens, width)      in
  ///   head       (vocabulary, width)  in
  ///   labels     (tokens)             in; ignored_label contributes nothing
  ///   weight     of each token in the loss: 1 / valid tokens of the whole step, over all ranks
  ///   dx         (tokens, width)      out: d loss / d x
  ///   dhead      (vocabulary, width)  out, or in and out, as into_dhead says
  ///   nll_sum    (1)                  in and out: this call's sum of nll, without the weight, is added
  ///   workspace  (workspace_size elements of A)  scratch
  static void forward_backward(const Exec& exec, Matrix<const T> x, Matrix<const T> head,
                               Vector<const std::int32_t> labels, double weight, Matrix<T> dx, Into into_dhead,
                               Matrix<A> dhead, Vector<double> nll_sum, Vector<A> workspace);

  ///   nll        (tokens)             out; 0 where there is no label
  static void forward(const Exec& exec, Matrix<const T> x, Matrix<const T> head, Vector<const std::int32_t> labels,
                      Vector<A> nll, Vector<A> workspace);

  static index_t workspace_size(index_t tokens, index_t width, index_t vocabulary);
};

}  // namespace annulus::ops
