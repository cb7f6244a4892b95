#include "ops/rms_norm.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <numeric>

#include "ops/budget.hpp"

using namespace annulus;
using namespace annulus::test;

namespace {

constexpr double eps = 1e-3;

struct Naive {
  Numbers y, dx, dgain;
};

/// From the definition in fp64: dx and dgain by the full Jacobian dy_j / dx_i = gain_j rstd (1[i = j] - x_i x_j rstd^2
/// / width).
Naive naive(const Numbers& x, const Numbers& gain, const Numbers& dy, double dx = 0, double dgain = 0) {
  const std::size_t width = gain.size();
  Naive out{Numbers(x.size()), Numbers(x.size(), dx), Numbers(width, dgain)};
  for (std::size_t row = 0; row < x.size(); row += width) {
    double squares = 0, slope = 0;
    for (std::size_t i = 0; i < width; ++i) squares += x[row + i] * x[row + i];
    const double rstd = 1 / std::sqrt(squares / width + eps);
    for (std::size_t j = 0; j < width; ++j) slope += dy[row + j] * gain[j] * x[row + j];
    for (std::size_t i = 0; i < width; ++i) {
      out.y[row + i] = x[row + i] * rstd * gain[i];
      out.dx[row + i] += dy[row + i] * gain[i] * rstd - x[row + i] * slope * std::pow(rstd, 3) / width;
      out.dgain[i] += dy[row + i] * x[row + i] * rstd;
    }
  }
  return out;
}

/// One forward and one backward pass on `exec`; dx and dgain hold `held` when backward begins, workspace holds NaN.
template <class T>
Naive computed(const Exec& exec, const Numbers& x, const Numbers& gain, const Numbers& dy, Into into, double held,
               index_t shift = 0, bool in_place = false) {
  const index_t width = gain.size(), tokens = x.size() / width;
  const Vector<T> arena("x", tokens * width + shift);  // shift 1: rows that no 16-byte access fits
  const auto X = upload(x, Matrix<T>(arena.data() + shift, tokens, width));
  const auto dY = upload(dy, Matrix<T>("dy", tokens, width));
  const auto dX = in_place ? dY : upload(Numbers(x.size(), held), Matrix<T>("dx", tokens, width));
  const auto G = upload(gain, Vector<T>("gain", width));
  const auto dG = upload(Numbers(width, held), Vector<Accum<T>>("dgain", width));
  const auto Y = poisoned_matrix<T>(tokens, width);
  const auto rstd = poisoned<Accum<T>>(tokens);
  const auto workspace = poisoned<Accum<T>>(ops::RmsNorm<T>::workspace_size(tokens, width));
  Kokkos::fence();

  ops::RmsNorm<T>::forward(exec, X, G, eps, Y, rstd);
  ops::RmsNorm<T>::backward(exec, dY, X, G, rstd, into, dX, dG, workspace);
  exec.fence();
  return {download(Y), download(dX), download(dG)};
}

}  // namespace

TEMPLATE_TEST_CASE("rms_norm: equals the definition in fp64, rounded once", "[ops]", float, double, bf16) {
  using T = TestType;
  const index_t width = GENERATE(1, 7, 13, 100, 1024), tokens = GENERATE(0, 1, 3, 257), shift = GENERATE(0, 1);
  CAPTURE(width, tokens, shift);
  const Numbers x = rounded<T>(wave(tokens * width, 1.3)), gain = rounded<T>(wave(width, 0.9, 1.5)),
                dy = rounded<T>(wave(tokens * width, 0.7));
  const double held = 0.75;  // what dx and dgain hold already; exact in every type
  for (const Into into : {Into::overwrite, Into::add}) {
    const Naive expected = naive(x, gain, dy, into == Into::add ? held : 0, held);
    const Naive found = computed<T>(Exec{}, x, gain, dy, into, held, shift);
    CHECK(agrees<T>(found.y, expected.y, 16, 4));
    CHECK(agrees<T>(found.dx, expected.dx, 16, 4));
    CHECK(agrees<Accum<T>>(found.dgain, expected.dgain, 16, 1 + tokens));
  }
  const bool in_place = true;  // dx is dy
  CHECK(agrees<T>(computed<T>(Exec{}, x, gain, dy, Into::overwrite, held, shift, in_place).dx, naive(x, gain, dy).dx,
                  16, 4));
}

TEST_CASE("rms_norm: gradients are the finite differences of the operator itself", "[ops]") {
  const index_t tokens = 3, width = 7;
  Numbers x = wave(tokens * width, 1.3), gain = wave(width, 0.9, 1.5);
  const Numbers dy = wave(tokens * width, 0.7);
  const Naive found = computed<double>(Exec{}, x, gain, dy, Into::overwrite, 0);
  const auto loss = [&] {
    const Numbers y = computed<double>(Exec{}, x, gain, dy, Into::overwrite, 0).y;
    return std::inner_product(y.begin(), y.end(), dy.begin(), 0.0);
  };
  CHECK(is_slope(found.dx, x, loss, 1e-6, 1e-8));
  CHECK(is_slope(found.dgain, gain, loss, 1e-6, 1e-8));
}

TEMPLATE_TEST_CASE("rms_norm: results are the same bits on any number of threads", "[ops]", float, double, bf16) {
  using T = TestType;
  if (!on_gpu && Exec{}.concurrency() < 3) SKIP("needs OMP_NUM_THREADS >= 3, as ctest sets it");
  const index_t width = GENERATE(13, 1024), tokens = 257;
  const Numbers x = rounded<T>(wave(tokens * width, 1.3)), gain = rounded<T>(wave(width, 0.9, 1.5)),
                dy = rounded<T>(wave(tokens * width, 0.7));
  const Naive whole = computed<T>(Exec{}, x, gain, dy, Into::overwrite, 0);
  for_thread_counts([&](const Exec& part) {
    const Naive found = computed<T>(part, x, gain, dy, Into::overwrite, 0);
    CHECK((found.y == whole.y && found.dx == whole.dx && found.dgain == whole.dgain));
  });
}
