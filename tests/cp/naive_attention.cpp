#include "naive_attention.hpp"

#include <cmath>

namespace annulus::test {

namespace {

struct Dot {
  double value = 0, terms = 0;
};

Dot dot(const double* a, const double* b, int dims) {
  Dot sum;
  for (int c = 0; c < dims; ++c) {
    sum.value += a[c] * b[c];
    sum.terms += std::abs(a[c] * b[c]);
  }
  return sum;
}

}  // namespace

NaiveAttention::NaiveAttention(const AttentionSizes& sizes, const Numbers& q, const Numbers& k, const Numbers& v,
                               const Numbers& dout, const std::function<bool(index_t, index_t, index_t)>& sees)
    : out(q.size()), lse(sizes.rows * sizes.q_heads * sizes.length), dq(q.size()), dk(k.size()), dv(k.size()) {
  const int dims = sizes.head_dim, group = sizes.q_heads / sizes.kv_heads;
  const auto query = [&](index_t row, index_t i, int h) {
    return ((row * sizes.length + i) * sizes.q_heads + h) * dims;
  };
  const auto key = [&](index_t row, index_t j, int h) {
    return ((row * sizes.length + j) * sizes.kv_heads + h / group) * dims;
  };
  Numbers p(sizes.length);
  for (index_t row = 0; row < sizes.rows; ++row)
    for (int h = 0; h < sizes.q_heads; ++h)
      for (index_t i = 0; i < sizes.length; ++i) {
        const auto at_i = query(row, i, h);
        double sum = 0;
        for (index_t j = 0; j < sizes.length; ++j) {
          p[j] = sees(row, i, j) ? std::exp(sizes.scale * dot(&q[at_i], &k[key(row, j, h)], dims).value) : 0;
          sum += p[j];
        }
        lse[(row * sizes.q_heads + h) * sizes.length + i] = std::log(sum);
        for (double& p_j : p) p_j = sum > 0 ? p_j / sum : 0;

        for (index_t j = 0; j < sizes.length; ++j)
          for (int c = 0; c < dims; ++c) {
            const double term = p[j] * v[key(row, j, h) + c];
            out.add(at_i + c, term, std::abs(term));
          }
        const Dot delta = dot(&dout[at_i], &out.values[at_i], dims);
        for (index_t j = 0; j < sizes.length; ++j) {
          const auto at_j = key(row, j, h);
          const Dot dp = dot(&dout[at_i], &v[at_j], dims);
          const double ds = sizes.scale * p[j] * (dp.value - delta.value);
          const double size = sizes.scale * p[j] * (dp.terms + delta.terms);
          for (int c = 0; c < dims; ++c) {
            dq.add(at_i + c, ds * k[at_j + c], size * std::abs(k[at_j + c]));
            dk.add(at_j + c, ds * q[at_i + c], size * std::abs(q[at_i + c]));
            dv.add(at_j + c, p[j] * dout[at_i + c], std::abs(p[j] * dout[at_i + c]));
          }
        }
      }
}

}  // namespace annulus::test
