#include "ops/embedding.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "ops/budget.hpp"

using namespace annulus;
using namespace annulus::test;
using ops::Embedding;

namespace {

template <class Table, class Residual>
struct Types {
  using T = Table;
  using R = Residual;
};

/// Ids of a text: few are frequent, some never occur.
std::vector<std::int32_t> text_ids(index_t tokens, index_t vocabulary) {
  std::vector<std::int32_t> ids(tokens);
  for (index_t t = 0; t < tokens; ++t) ids[t] = static_cast<std::int32_t>(t * t % 97 * (t % 3) % vocabulary);
  return ids;
}

Vector<std::int32_t> upload_ids(const std::vector<std::int32_t>& ids) {
  const Vector<std::int32_t> view("ids", ids.size());
  Kokkos::deep_copy(view, Kokkos::View<const std::int32_t*, Kokkos::HostSpace>(ids.data(), ids.size()));
  return view;
}

/// dtable after backward, which finds `held` in it and a full workspace.
template <class T, class R>
Numbers gradient(const Exec& exec, const std::vector<std::int32_t>& ids, const Numbers& dx, index_t vocabulary,
                 index_t width, double held) {
  const index_t tokens = ids.size();
  const auto dX = matrix<R>(dx, tokens, width);
  const auto dtable = matrix<Accum<T>>(Numbers(vocabulary * width, held), vocabulary, width);
  const Vector<std::int32_t> workspace("workspace", Embedding<T, R>::workspace_size(tokens, vocabulary));
  Kokkos::deep_copy(workspace, -77);
  const auto tokens_view = upload_ids(ids);
  Kokkos::fence();
  Embedding<T, R>::backward(exec, tokens_view, dX, dtable, workspace);
  exec.fence();
  return download(dtable);
}

}  // namespace

TEMPLATE_TEST_CASE("embedding: rows of the table, and sums of the rows that share an id", "[ops]",
                   (Types<float, float>), (Types<double, double>), (Types<bf16, bf16>), (Types<bf16, float>)) {
  using T = typename TestType::T;
  using R = typename TestType::R;
  const index_t width = GENERATE(1, 7, 33, 200), tokens = GENERATE(0, 1, 5, 300), vocabulary = GENERATE(1, 10, 256);
  CAPTURE(width, tokens, vocabulary);
  const auto ids = text_ids(tokens, vocabulary);
  const Numbers table = rounded<T>(wave(vocabulary * width, 1.1)), dx = rounded<R>(wave(tokens * width, 0.7));
  const double held = 0.75;
  Numbers x(tokens * width), dtable(vocabulary * width, held), sizes(vocabulary * width, held);
  for (index_t t = 0; t < tokens; ++t)
    for (index_t i = 0; i < width; ++i) {
      x[t * width + i] = table[ids[t] * width + i];
      dtable[ids[t] * width + i] += dx[t * width + i];
      sizes[ids[t] * width + i] += std::abs(dx[t * width + i]);
    }

  const auto X = poisoned_matrix<R>(tokens, width);
  Embedding<T, R>::forward(Exec{}, upload_ids(ids), matrix<T>(table, vocabulary, width), X);
  Exec{}.fence();
  CHECK(download(X) == x);
  CHECK(agrees<Accum<T>>(gradient<T, R>(Exec{}, ids, dx, vocabulary, width, held), dtable, tokens + 1, sizes));
}

TEMPLATE_TEST_CASE("embedding: rows that share an id are summed in token order", "[ops]", float, double, bf16) {
  // Large values cancel; what is left of small ones tells the order.
  using A = Accum<TestType>;
  const double large = 2 / std::numeric_limits<A>::epsilon();
  const index_t tokens = 400;
  Numbers dx(tokens);
  for (index_t t = 0; t < tokens; ++t) dx[t] = t % 7 == 0 ? large : t % 7 == 3 ? -large : 1;
  dx = rounded<TestType>(dx);
  A expected = 0;
  for (const double value : dx) expected += static_cast<A>(value);
  CHECK(gradient<TestType, TestType>(Exec{}, std::vector<std::int32_t>(tokens, 2), dx, 5, 1, 0)[2] == expected);
}

TEMPLATE_TEST_CASE("embedding: gradients are the same bits on any number of threads", "[ops]", float, double, bf16) {
  if (!on_gpu && Exec{}.concurrency() < 3) SKIP("needs OMP_NUM_THREADS >= 3, as ctest sets it");
  const index_t tokens = 1000, vocabulary = 50, width = 37;
  const auto ids = text_ids(tokens, vocabulary);
  const Numbers dx = wave(tokens * width, 0.7);
  const Numbers whole = gradient<TestType, TestType>(Exec{}, ids, dx, vocabulary, width, 0.1);
  for_thread_counts(
      [&](const Exec& exec) { CHECK(gradient<TestType, TestType>(exec, ids, dx, vocabulary, width, 0.1) == whole); });
}
