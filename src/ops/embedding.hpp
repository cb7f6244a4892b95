/// Rows of a table by token id. R is the residual stream's type, T the table's: (float, float), (double, double),
/// (bf16, bf16) and (bf16, float).
#pragma once
#include "core/views.hpp"

namespace annulus::ops {

template <class T, class R = T>
struct Embedding {
  ///   tokens  (tokens)             in, each 0 <= id < vocabulary: checked at the door, by the loader
  ///   table   (vocabulary, width)  in
  ///   x       (tokens, width)      out
  static void forward(const Exec& exec, Vector<const std::int32_t> tokens, Matrix<const T> table, Matrix<R> x);
  /// dtable's rows get the sum of dx over their tokens, in token order whatever the concurrency.
  ///   dx         (tokens, width)      in
  ///   dtable     (vocabulary, width)  in and out: added to
  ///   workspace  (workspace_size(tokens, vocabulary) elements of std::int32_t)  scratch
  static void backward(const Exec& exec, Vector<const std::int32_t> tokens, Matrix<const R> dx, Matrix<Accum<T>> dtable,
                       Vector<std::int32_t> workspace);
  static index_t workspace_size(index_t tokens, index_t vocabulary);
};

}  // namespace annulus::ops
