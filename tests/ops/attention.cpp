#include "ops/attention.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "attention_ranks.hpp"

using namespace annulus;
using namespace annulus::test;

namespace {

/// Queries are the last of the keys' tokens; each sees the keys of its document up to itself, at most `window`.
template <class T>
AttentionProblem causal(index_t queries, index_t keys, int q_heads, int kv_heads, int dims, index_t document = 1 << 20,
                        index_t window = 1 << 20) {
  AttentionProblem p{q_heads, kv_heads, dims, 1 / std::sqrt(double(dims)), queries, keys, {}, {}, {}, {}, {}, {}};
  for (index_t i = 0; i < queries; ++i) {
    const index_t order = std::max<index_t>(0, keys - queries + i);
    p.begin.push_back(std::max(order / document * document, order - window + 1));
    p.end.push_back(std::min(order + 1, keys));
  }
  p.q = rounded<T>(wave(queries * q_heads * dims, 1.3));
  p.k = rounded<T>(wave(keys * kv_heads * dims, 0.7));
  p.v = rounded<T>(wave(keys * kv_heads * dims, 0.9, 0.3));
  p.dout = rounded<T>(wave(queries * q_heads * dims, 1.1));
  return p;
}

template <class T>
AttentionResult computed(const std::string& kernel, const AttentionProblem& p) {
  return attention_on_ranks(*ops::attention_kernel<T>(kernel, shape_of(p)), Exec{}, p, whole(p.queries), whole(p.keys));
}

/// Rounding errors are independent: sums of n terms are wrong by about sqrt(n) half-ulps of the terms' norm (Higham &
/// Mary 2019). An exponent's error comes from head_dim products, the scale and the exponential, in proportion to the
/// largest logit; backward has it twice, of its own and forward's lse.
template <class T>
bool agrees(const AttentionResult& found, const AttentionOracle& oracle, const AttentionProblem& p) {
  using A = Accum<T>;
  const double half_ulp = std::numeric_limits<A>::epsilon() / 2.0, stored = std::is_same_v<T, bf16> ? 0x1p-9 : half_ulp;
  const double summing = std::sqrt(double(p.dims)) + std::sqrt(double(std::max(p.keys, p.queries)));
  const double exponent = (std::sqrt(double(p.dims)) + 4) * (1 + oracle.largest_logit);
  const double budget = 2 * half_ulp * (summing + 2 * exponent);
  const auto near = [](const Numbers& a, const Numbers& b, const Numbers& terms, double tolerance) {
    Numbers error(a.size());
    for (std::size_t n = 0; n < a.size(); ++n) error[n] = a[n] == b[n] ? 0 : a[n] - b[n];  // infinities may be equal
    return norm(error) <= tolerance * norm(terms);
  };
  const double of_delta = stored;  // delta is formed from the stored output
  return near(found.out, oracle.value.out, oracle.terms.out, budget + stored) &&
         near(found.lse, oracle.value.lse, oracle.terms.lse, budget) &&
         near(found.dq, oracle.value.dq, oracle.terms.dq, budget + of_delta) &&
         near(found.dk, oracle.value.dk, oracle.terms.dk, budget + of_delta) &&
         near(found.dv, oracle.value.dv, oracle.terms.dv, budget);
}

}  // namespace

TEMPLATE_TEST_CASE("attention: equals the definition in fp64 at any length", "[ops]", float, double, bf16) {
  using T = TestType;
  const auto kernel = GENERATE("reference", "portable");
  const index_t tokens = GENERATE(1, 7, 63, 64, 65, 97, 129, 300);
  CAPTURE(kernel, tokens);
  const auto p = causal<T>(tokens, tokens, 2, 1, 16);
  CHECK(agrees<T>(computed<T>(kernel, p), attention_oracle(p), p));
}

TEMPLATE_TEST_CASE("attention: equals the definition for every head dimension and group of heads", "[ops]", float,
                   double, bf16) {
  using T = TestType;
  const auto kernel = GENERATE("reference", "portable");
  const int dims = GENERATE(2, 16, 32, 48, 64, 80, 128, 256), group = GENERATE(1, 2, 3, 4, 8);
  if (dims > 64 && group > 2) return;  // nothing new, and slow
  CAPTURE(kernel, dims, group);
  const auto p = causal<T>(37, 70, 2 * group, 2, dims);
  CHECK(agrees<T>(computed<T>(kernel, p), attention_oracle(p), p));
}

TEMPLATE_TEST_CASE("attention: documents, windows and full masks are the ranges that queries see", "[ops]", float,
                   double, bf16) {
  using T = TestType;
  const auto kernel = GENERATE("reference", "portable");
  const index_t document = GENERATE(1, 50, 64, 1000), window = GENERATE(1, 30, 64, 1000);
  CAPTURE(kernel, document, window);
  auto p = causal<T>(150, 230, 3, 1, 16, document, window);
  CHECK(agrees<T>(computed<T>(kernel, p), attention_oracle(p), p));
  if (document < 1000 || window < 1000) return;
  p.begin.assign(p.queries, 0);
  p.end.assign(p.queries, p.keys);
  CHECK(agrees<T>(computed<T>(kernel, p), attention_oracle(p), p));
}

TEMPLATE_TEST_CASE("attention: the shares of a zigzag ring add up to the whole", "[ops]", float, double, bf16) {
  using T = TestType;
  const auto kernel = GENERATE("reference", "portable");
  const int ranks = GENERATE(2, 3, 4);
  const index_t tokens = GENERATE(3, 97, 300), document = GENERATE(70, 1000);
  CAPTURE(kernel, ranks, tokens, document);
  const auto p = causal<T>(tokens, tokens, 4, 2, 16, document);
  const auto shares = zigzag(tokens, ranks);
  const auto kernel_of = ops::attention_kernel<T>(kernel, shape_of(p));
  CHECK(agrees<T>(attention_on_ranks(*kernel_of, Exec{}, p, shares, shares), attention_oracle(p), p));
}

TEMPLATE_TEST_CASE("attention: a query that sees nothing has no output and no gradients", "[ops]", float, double,
                   bf16) {
  using T = TestType;
  const auto kernel = GENERATE("reference", "portable");
  const int ranks = GENERATE(1, 2);
  CAPTURE(kernel, ranks);
  auto p = causal<T>(130, 130, 2, 1, 16);
  for (const index_t blind : {0, 1, 40, 41, 63, 64, 129}) p.end[blind] = p.begin[blind] = std::min<index_t>(blind, 128);
  for (index_t i = 1; i < p.queries; ++i) {  // ranges stay monotone
    p.begin[i] = std::max(p.begin[i], p.begin[i - 1]);
    p.end[i] = std::max(p.end[i], p.end[i - 1]);
  }
  const auto shares = zigzag(130, ranks);
  const auto kernel_of = ops::attention_kernel<T>(kernel, shape_of(p));
  const auto found = attention_on_ranks(*kernel_of, Exec{}, p, shares, shares);
  const auto oracle = attention_oracle(p);
  CHECK(agrees<T>(found, oracle, p));
  CHECK(oracle.value.lse[0] == -std::numeric_limits<double>::infinity());
  CHECK(found.lse[0] == -std::numeric_limits<double>::infinity());
}
