#include "ops/attention.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <numeric>

#include "core/error.hpp"
#include "ops/attention_ranks.hpp"
#include "ops/budget.hpp"

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
AttentionResult on_shares(const std::string& kernel, const AttentionProblem& p, const std::vector<Share>& queries,
                          const std::vector<Share>& keys) {
  return attention_on_ranks(*ops::attention_kernel<T>(kernel, shape_of(p)), Exec{}, p, queries, keys);
}
template <class T>
AttentionResult on_shares(const std::string& kernel, const AttentionProblem& p, const std::vector<Share>& shares) {
  return on_shares<T>(kernel, p, shares, shares);
}
template <class T>
AttentionResult computed(const std::string& kernel, const AttentionProblem& p) {
  return on_shares<T>(kernel, p, whole(p.queries), whole(p.keys));
}

/// Rounding errors are independent: sums of n terms are wrong by about sqrt(n) half-ulps of the terms' norm (Higham &
/// Mary 2019). An exponent's error comes from head_dim products, the scale and the exponential, in proportion to the
/// largest logit; backward has it twice, of its own and forward's lse.
template <class T>
bool agrees(const AttentionResult& found, const AttentionOracle& oracle, const AttentionProblem& p) {
  const double summing = std::sqrt(double(p.dims)) + std::sqrt(double(std::max(p.keys, p.queries)));
  const double exponent = (std::sqrt(double(p.dims)) + 4) * (1 + oracle.largest_logit);
  const double budget = 2 * half_ulp<Accum<T>> * (summing + 2 * exponent);
  const auto near = [](const Numbers& a, const Numbers& b, const Numbers& terms, double tolerance) {
    Numbers error(a.size());
    for (std::size_t n = 0; n < a.size(); ++n) error[n] = a[n] == b[n] ? 0 : a[n] - b[n];  // infinities may be equal
    return norm(error) <= tolerance * norm(terms);
  };
  const double stored = half_ulp<T>;  // of out, and through delta of the gradients that are formed from it
  return near(found.out, oracle.value.out, oracle.terms.out, budget + stored) &&
         near(found.lse, oracle.value.lse, oracle.terms.lse, budget) &&
         near(found.dq, oracle.value.dq, oracle.terms.dq, budget + stored) &&
         near(found.dk, oracle.value.dk, oracle.terms.dk, budget + stored) &&
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
  CHECK(agrees<T>(on_shares<T>(kernel, p, shares), attention_oracle(p), p));
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
  const auto found = on_shares<T>(kernel, p, shares);
  const auto oracle = attention_oracle(p);
  CHECK(agrees<T>(found, oracle, p));
  CHECK(oracle.value.lse[0] == -std::numeric_limits<double>::infinity());
  CHECK(found.lse[0] == -std::numeric_limits<double>::infinity());
}

TEMPLATE_TEST_CASE("attention: shares of eight stretches add up to the whole", "[ops]", float, double, bf16) {
  using T = TestType;
  const auto kernel = GENERATE("reference", "portable");
  const auto p = causal<T>(200, 200, 2, 1, 16, 90);
  std::vector<Share> shares(2);
  for (index_t chunk = 0; chunk < 16; ++chunk)  // the third has no tokens
    shares[chunk % 2].push_back({chunk == 3 ? 36 : 12 * chunk, chunk == 2 ? 36 : chunk == 15 ? 200 : 12 * (chunk + 1)});
  CHECK(agrees<T>(on_shares<T>(kernel, p, shares), attention_oracle(p), p));
}

TEMPLATE_TEST_CASE("attention: a maximum that grows or falls from tile to tile does not matter", "[ops]", float,
                   double) {
  using T = TestType;
  const auto kernel = GENERATE("reference", "portable");
  const double steepness = GENERATE(3.0, -3.0, 100.0, -100.0);
  const int ranks = GENERATE(1, 3);
  CAPTURE(kernel, steepness, ranks);
  auto p = causal<T>(200, 200, 2, 1, 16);
  for (std::size_t n = 0; n < p.k.size(); ++n) {  // logits far beyond what exp can hold, in steps from key to key
    p.q[2 * n] = p.q[2 * n + 1] = 1;
    p.k[n] = steepness * static_cast<double>(n / 16 + 1) / 4;
  }
  CHECK(agrees<T>(on_shares<T>(kernel, p, zigzag(200, ranks)), attention_oracle(p), p));
}

TEST_CASE("attention: gradients are the finite differences of forward", "[ops]") {
  const auto kernel = GENERATE("reference", "portable");
  auto p = causal<double>(5, 9, 4, 2, 6, 7);
  const auto found = computed<double>(kernel, p);
  const auto loss = [&] {
    const Numbers out = computed<double>(kernel, p).out;
    return std::inner_product(out.begin(), out.end(), p.dout.begin(), 0.0);
  };
  CHECK(is_slope(found.dq, p.q, loss, 1e-5, 1e-8));
  CHECK(is_slope(found.dk, p.k, loss, 1e-5, 1e-8));
  CHECK(is_slope(found.dv, p.v, loss, 1e-5, 1e-8));
}

TEMPLATE_TEST_CASE("attention: results are the same bits on any number of threads", "[ops]", float, double, bf16) {
  using T = TestType;
  if (!on_gpu && Exec{}.concurrency() < 3) SKIP("needs OMP_NUM_THREADS >= 3, as ctest sets it");
  const auto kernel = GENERATE("reference", "portable");
  const auto p = causal<T>(300, 300, 4, 2, 32, 170);
  const auto shares = zigzag(300, 2);
  const auto found = [&](const Exec& exec) {
    return attention_on_ranks(*ops::attention_kernel<T>(kernel, shape_of(p)), exec, p, shares, shares);
  };
  const AttentionResult all = found(Exec{});
  for_thread_counts([&](const Exec& exec) { CHECK(found(exec) == all); });
}

TEMPLATE_TEST_CASE("attention: a block that nobody sees changes no bit", "[ops]", float, double, bf16) {
  using T = TestType;
  const auto kernel = GENERATE("reference", "portable");
  const index_t seen = 70, unseen = 50;
  const auto with = causal<T>(seen, seen + unseen, 2, 1, 16);
  auto p = with;
  for (index_t i = 0; i < seen; ++i) p.begin[i] = 0, p.end[i] = i + 1;  // nobody sees the last keys
  const std::vector<Share> queries = {{{0, seen}}, {}}, keys = {{{0, seen}}, {{seen, seen + unseen}}};
  const auto found = on_shares<T>(kernel, p, queries, keys);
  auto without = causal<T>(seen, seen, 2, 1, 16);
  const auto expected = computed<T>(kernel, without);
  CHECK((found.out == expected.out && found.lse == expected.lse && found.dq == expected.dq));
  for (const auto& [a, b] : {std::pair{&found.dk, &expected.dk}, {&found.dv, &expected.dv}}) {
    CHECK(std::equal(b->begin(), b->end(), a->begin()));
    CHECK(std::all_of(a->begin() + b->size(), a->end(), [](double gradient) { return gradient == 0; }));
  }
}

TEMPLATE_TEST_CASE("attention: what a query does not see does not reach it", "[ops]", float, double, bf16) {
  using T = TestType;
  const auto kernel = GENERATE("reference", "portable");
  const index_t queries = 40, last = queries - 1, d = 16, row = 2 * d;
  auto p = causal<T>(queries, 70, 2, 1, d);
  for (index_t i = 0; i < queries; ++i) p.begin[i] = 3, p.end[i] = std::max<index_t>(3, i + 1);
  const auto calm = computed<T>(kernel, p);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const index_t key : {0, 1, 2, 40, 41, 69})  // seen by nobody
    for (index_t c = 0; c < d; ++c) p.k[key * d + c] = p.v[key * d + c] = nan;
  for (index_t c = 0; c < d; ++c) p.v[last * d + c] = 1e30;  // seen by the last query alone
  const auto found = computed<T>(kernel, p);
  CHECK(std::equal(found.out.begin(), found.out.begin() + last * row, calm.out.begin()));
  CHECK(std::equal(found.dq.begin(), found.dq.begin() + last * row, calm.dq.begin()));
  for (const index_t key : {0, 1, 2, 40, 41, 69}) CHECK((found.dk[key * d] == 0 && found.dv[key * d] == 0));
  CHECK(found.dv == calm.dv);
}

TEST_CASE("attention: a kernel that cannot compute a shape is refused, with the reason", "[ops]") {
  using Catch::Matchers::ContainsSubstring;
  const auto refusal = [](const std::string& kernel, const ops::AttentionShape& shape) -> std::string {
    try {
      ops::attention_kernel<float>(kernel, shape);
    } catch (const Refused& refused) {
      return refused.what();
    }
    return "";
  };
  CHECK(refusal("portable", {4, 2, 64, 1}) == "");
  CHECK(refusal("reference", {1, 1, 256, 1}) == "");
  CHECK(ops::attention_kernel<float>("auto", {4, 2, 64, 1})->name() == std::string("portable"));
  CHECK_THAT(refusal("sm90", {4, 2, 64, 1}), ContainsSubstring("sm90") && ContainsSubstring("not built yet"));
  CHECK_THAT(refusal("flash", {4, 2, 64, 1}), ContainsSubstring("flash") && ContainsSubstring("not known"));
  CHECK_THAT(refusal("portable", {4, 3, 64, 1}), ContainsSubstring("4 and 3"));
  CHECK_THAT(refusal("auto", {4, 2, 63, 1}), ContainsSubstring("63"));
  CHECK_THAT(refusal("auto", {4, 2, 258, 1}), ContainsSubstring("258"));
}
