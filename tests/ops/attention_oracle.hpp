/// Attention and its gradients from the definition, in fp64, on the host, over all tokens at once; sees no Kokkos.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include "support/numbers.hpp"

namespace annulus::test {

/// Queries and keys of one row, in their global order; query i sees the keys begin[i] <= j < end[i].
struct AttentionProblem {
  int q_heads, kv_heads, dims;
  double scale;
  std::int64_t queries, keys;
  std::vector<std::int64_t> begin, end;
  Numbers q, k, v, dout;  // (tokens, heads, dims)
};

/// out, dq like q; dk, dv like k; lse (queries, q_heads).
struct AttentionResult {
  Numbers out, lse, dq, dk, dv;
  bool operator==(const AttentionResult&) const = default;
};

struct AttentionOracle {
  AttentionResult value;
  AttentionResult terms;     ///< the same sums over absolute values: what rounding errors are relative to
  double largest_logit = 0;  ///< of scale sum |q_c k_c|: what errors of exponents are relative to
};

inline AttentionOracle attention_oracle(const AttentionProblem& p) {
  const std::size_t d = p.dims, q_size = p.q.size(), k_size = p.k.size(), rows = p.queries * p.q_heads;
  const auto empty = [&] {
    return AttentionResult{Numbers(q_size), Numbers(rows), Numbers(q_size), Numbers(k_size), Numbers(k_size)};
  };
  AttentionOracle oracle{empty(), empty()};
  auto& [value, terms, largest_logit] = oracle;
  const int group = p.q_heads / p.kv_heads;
  for (std::int64_t i = 0; i < p.queries; ++i)
    for (int h = 0; h < p.q_heads; ++h) {
      const std::size_t row = i * p.q_heads + h, at = row * d;
      const auto key = [&](std::int64_t j) { return (j * p.kv_heads + h / group) * d; };
      const auto dot = [&](const Numbers& a, const Numbers& b, std::int64_t j, auto of) {
        double sum = 0;
        for (std::size_t c = 0; c < d; ++c) sum += of(a[at + c] * b[key(j) + c]);
        return sum;
      };
      const auto plain = [](double x) { return x; };
      const auto absolute = [](double x) { return std::abs(x); };
      double maximum = -std::numeric_limits<double>::infinity(), sum = 0;
      for (std::int64_t j = p.begin[i]; j < p.end[i]; ++j) {
        maximum = std::max(maximum, p.scale * dot(p.q, p.k, j, plain));
        largest_logit = std::max(largest_logit, p.scale * dot(p.q, p.k, j, absolute));
      }
      for (std::int64_t j = p.begin[i]; j < p.end[i]; ++j) sum += std::exp(p.scale * dot(p.q, p.k, j, plain) - maximum);
      value.lse[row] = maximum + std::log(sum);
      terms.lse[row] = std::isfinite(value.lse[row]) ? 1 + std::abs(value.lse[row]) : 0;
      const auto weight = [&](std::int64_t j) { return std::exp(p.scale * dot(p.q, p.k, j, plain) - value.lse[row]); };

      double delta = 0, delta_terms = 0;
      for (std::int64_t j = p.begin[i]; j < p.end[i]; ++j) {
        const double w = weight(j);
        for (std::size_t c = 0; c < d; ++c) {
          value.out[at + c] += w * p.v[key(j) + c];
          terms.out[at + c] += w * std::abs(p.v[key(j) + c]);
        }
      }
      for (std::size_t c = 0; c < d; ++c) {
        delta += value.out[at + c] * p.dout[at + c];
        delta_terms += terms.out[at + c] * std::abs(p.dout[at + c]);
      }
      for (std::int64_t j = p.begin[i]; j < p.end[i]; ++j) {
        const double w = weight(j), ds = p.scale * w * (dot(p.dout, p.v, j, plain) - delta);
        const double ds_terms = p.scale * w * (dot(p.dout, p.v, j, absolute) + delta_terms);
        for (std::size_t c = 0; c < d; ++c) {
          value.dq[at + c] += ds * p.k[key(j) + c];
          value.dk[key(j) + c] += ds * p.q[at + c];
          value.dv[key(j) + c] += w * p.dout[at + c];
          terms.dq[at + c] += ds_terms * std::abs(p.k[key(j) + c]);
          terms.dk[key(j) + c] += ds_terms * std::abs(p.q[at + c]);
          terms.dv[key(j) + c] += w * std::abs(p.dout[at + c]);
        }
      }
    }
  return oracle;
}

}  // namespace annulus::test
