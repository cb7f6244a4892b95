#include "ops/residual_norm.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "ops/budget.hpp"

using namespace annulus;
using namespace annulus::test;
using ops::ResidualNorm;

namespace {

constexpr double eps = 1e-3;

template <class In, class Residual>
struct Types {
  using T = In;
  using R = Residual;
};

struct Found {
  Numbers sum, y, rstd;
};

template <class T, class R>
Found computed(const Exec& exec, const Numbers& x, const Numbers& branch, const Numbers& gain, bool in_place) {
  const index_t width = gain.size(), tokens = x.size() / width;
  const auto X = matrix<R>(x, tokens, width);
  const auto B = matrix<T>(branch, tokens, width);
  const auto G = upload<T>(gain);
  const auto sum = in_place ? X : poisoned_matrix<R>(tokens, width);
  const auto y = in_place && std::is_same_v<T, R> ? B : poisoned_matrix<T>(tokens, width);
  const auto rstd = poisoned<Accum<T>>(tokens);
  Kokkos::fence();
  ResidualNorm<T, R>::forward(exec, X, B, G, eps, sum, y, rstd);
  exec.fence();
  return {download(sum), download(y), download(rstd)};
}

/// The definition, from the sum as it is stored.
Found naive(const Numbers& sum, const Numbers& gain) {
  const std::size_t width = gain.size();
  Found out{sum, Numbers(sum.size()), Numbers(sum.size() / width)};
  for (std::size_t t = 0; t < out.rstd.size(); ++t) {
    double squares = 0;
    for (std::size_t i = 0; i < width; ++i) squares += sum[t * width + i] * sum[t * width + i];
    out.rstd[t] = 1 / std::sqrt(squares / width + eps);
    for (std::size_t i = 0; i < width; ++i) out.y[t * width + i] = sum[t * width + i] * out.rstd[t] * gain[i];
  }
  return out;
}

}  // namespace

TEMPLATE_TEST_CASE("residual_norm: the sum, rounded once, and the norm of what was stored", "[ops]",
                   (Types<float, float>), (Types<double, double>), (Types<bf16, bf16>), (Types<bf16, float>)) {
  using T = typename TestType::T;
  using R = typename TestType::R;
  const index_t width = GENERATE(1, 7, 100, 512), tokens = GENERATE(0, 1, 3, 65);
  CAPTURE(width, tokens);
  const Numbers x = rounded<R>(wave(tokens * width, 1.3)), branch = rounded<T>(wave(tokens * width, 0.7));
  const Numbers gain = rounded<T>(wave(width, 0.9, 1.5));
  Numbers exact(x.size());
  for (std::size_t n = 0; n < x.size(); ++n) exact[n] = x[n] + branch[n];
  for (const bool in_place : {false, true}) {
    const Found found = computed<T, R>(Exec{}, x, branch, gain, in_place);
    const Found expected = naive(found.sum, gain);
    CHECK(agrees<R>(found.sum, exact, 1, 2));
    CHECK(agrees<T>(found.y, expected.y, 16, 4));
    CHECK(agrees<Accum<T>>(found.rstd, expected.rstd, 16, 1 / std::sqrt(eps)));
  }
}

TEMPLATE_TEST_CASE("residual_norm: results are the same bits on any number of threads", "[ops]", float, double, bf16) {
  if (!on_gpu && Exec{}.concurrency() < 3) SKIP("needs OMP_NUM_THREADS >= 3, as ctest sets it");
  const index_t width = 300, tokens = 67;
  const Numbers x = wave(tokens * width, 1.3), branch = wave(tokens * width, 0.7), gain = wave(width, 0.9, 1.5);
  const Found whole = computed<TestType, TestType>(Exec{}, x, branch, gain, false);
  for_thread_counts([&](const Exec& exec) {
    const Found found = computed<TestType, TestType>(exec, x, branch, gain, false);
    CHECK((found.sum == whole.sum && found.y == whole.y && found.rstd == whole.rstd));
  });
}
