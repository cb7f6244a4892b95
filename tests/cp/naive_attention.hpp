/// Attention of a whole row in fp64 from its definition, with gradients: what a ring must compute between its ranks.
/// Beside each value stands the sum of the sizes of the terms that it is made of, which bounds its rounding.
#pragma once
#include <functional>

#include "core/types.hpp"
#include "support/numbers.hpp"

namespace annulus::test {

struct AttentionSizes {
  index_t rows, length;
  int q_heads, kv_heads, head_dim;
  double scale;
};

struct NaiveAttention {
  struct Tensor {
    Numbers values, terms;
    explicit Tensor(std::size_t size) : values(size), terms(size) {}
    void add(std::size_t at, double value, double size) {
      values[at] += value;
      terms[at] += size;
    }
  };
  Tensor out;     ///< (rows, length, q_heads, d)
  Numbers lse;    ///< (rows, q_heads, length)
  Tensor dq;      ///< as out
  Tensor dk, dv;  ///< (rows, length, kv_heads, d)

  ///   q, dout             (rows, length, q_heads, d)
  ///   k, v                (rows, length, kv_heads, d)
  ///   sees(row, i, j)     whether query i sees key j
  NaiveAttention(const AttentionSizes& sizes, const Numbers& q, const Numbers& k, const Numbers& v, const Numbers& dout,
                 const std::function<bool(index_t, index_t, index_t)>& sees);
};

}  // namespace annulus::test
