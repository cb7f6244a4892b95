#include "ops/adamw.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "ops/budget.hpp"

using namespace annulus;
using namespace annulus::test;
using namespace annulus::ops;

namespace {

struct State {
  Numbers master, m, v, compute;
};

template <class T>
State computed(const Exec& exec, AdamWStep step, const Numbers& gradient, double squared_norm, const State& before,
               bool in_place) {
  using A = Accum<T>;
  const auto g = upload<A>(gradient), master = upload<A>(before.master), m = upload<A>(before.m),
             v = upload<A>(before.v);
  Vector<T> compute = poisoned<T>(gradient.size());
  if constexpr (std::is_same_v<T, A>)
    if (in_place) compute = master;
  const auto norm = upload<double>(Numbers{squared_norm});
  Kokkos::fence();
  AdamW<T>::update(exec, step, g, norm, master, m, v, compute);
  exec.fence();
  return {download(master), download(m), download(v), download(compute)};
}

State naive(const AdamWStep& s, const Numbers& gradient, double squared_norm, State state) {
  const double norm = std::sqrt(squared_norm), scale = s.clip > 0 && norm > s.clip ? s.clip / norm : 1;
  for (std::size_t n = 0; n < gradient.size(); ++n) {
    const double g = scale * gradient[n];
    state.m[n] = s.beta1 * state.m[n] + (1 - s.beta1) * g;
    state.v[n] = s.beta2 * state.v[n] + (1 - s.beta2) * g * g;
    const double m = state.m[n] / (1 - std::pow(s.beta1, s.step)), v = state.v[n] / (1 - std::pow(s.beta2, s.step));
    state.master[n] -= s.lr * (m / (std::sqrt(v) + s.eps) + s.decay * state.master[n]);
  }
  return state;
}

template <class A>
double squared_norm(const Exec& exec, const Numbers& values, double held) {
  const auto total = upload<double>(Numbers{held});
  const auto workspace = poisoned<double>(squared_norm_workspace(values.size()));
  const auto view = upload<A>(values);
  Kokkos::fence();
  add_squared_norm<A>(exec, view, total, workspace);
  exec.fence();
  return download(total)[0];
}

State start(index_t count) {
  State state{wave(count, 1.1), scaled(wave(count, 0.3), 0.2), wave(count, 0.8, 1.01), {}};
  return state;
}

}  // namespace

TEMPLATE_TEST_CASE("adamw: equals the paper's algorithm, clipped or not", "[ops]", float, double, bf16) {
  using T = TestType;
  using A = Accum<T>;
  const index_t count = GENERATE(0, 1, 19, 4096, 10001), step = GENERATE(1, 1000);
  const double clip = GENERATE(0.0, 0.5, 100.0);
  CAPTURE(count, step, clip);
  const AdamWStep s{1e-2, 0.9, 0.95, 1e-8, 0.1, step, clip};
  const double norm = 4;  // of all ranks' gradients
  const Numbers gradient = rounded<A>(wave(count, 0.7));
  State before = start(count);
  before = {rounded<A>(before.master), rounded<A>(before.m), rounded<A>(before.v), {}};
  const State expected = naive(s, gradient, norm, before);
  for (const bool in_place : {false, true}) {
    const State found = computed<T>(Exec{}, s, gradient, norm, before, in_place);
    CHECK(agrees<A>(found.m, expected.m, 4, 2));
    CHECK(agrees<A>(found.v, expected.v, 6, 2));
    // the update is at most lr (10 |m| / sqrt(20 v) + decay |p|) with sqrt(v) >= 0.1, and a dozen roundings of it
    CHECK(agrees<A>(found.master, expected.master, 2, 2 + 16 * s.lr * 100));
    CHECK(found.compute == rounded<T>(found.master));
  }
}

TEST_CASE("adamw: a first step moves each weight by the learning rate against its gradient", "[ops]") {
  // m / (1 - b1) = g and v / (1 - b2) = g^2: the size of g does not matter
  const AdamWStep s{1e-2, 0.9, 0.999, 1e-12, 0, 1, 0};
  const State found = computed<double>(Exec{}, s, {1e-3, -50, 0}, 1, {{1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {}}, false);
  CHECK(std::abs(found.master[0] - 0.99) <= 1e-10);
  CHECK(std::abs(found.master[1] - 1.01) <= 1e-10);
  CHECK(found.master[2] == 1);
}

TEMPLATE_TEST_CASE("adamw: the squared norm is summed in fp64 and added", "[ops]", float, double) {
  const index_t count = GENERATE(0, 1, 100, 4096, 70001);
  const Numbers values = rounded<TestType>(wave(count, 0.7));
  long double expected = 0.25;  // one after the other, fp64 itself would lose more than the operator may
  for (const double value : values) expected += static_cast<long double>(value) * value;
  // a lane of a stretch adds 4096 / 8 squares at most, one of the last pass as many stretches
  CHECK(std::abs(squared_norm<TestType>(Exec{}, values, 0.25) - expected) <= 0x1p-53 * 1024 * expected);
}

TEST_CASE("adamw: the squared norm of large fp32 values does not overflow", "[ops]") {
  CHECK(squared_norm<float>(Exec{}, Numbers(20, 0x1p100), 0) == 20 * 0x1p200);
}

TEMPLATE_TEST_CASE("adamw: results are the same bits on any number of threads", "[ops]", float, double, bf16) {
  using A = Accum<TestType>;
  if (!on_gpu && Exec{}.concurrency() < 3) SKIP("needs OMP_NUM_THREADS >= 3, as ctest sets it");
  const index_t count = 100003;
  const AdamWStep s{1e-2, 0.9, 0.95, 1e-8, 0.1, 3, 0.5};
  const Numbers gradient = wave(count, 0.7);
  const State whole = computed<TestType>(Exec{}, s, gradient, 4, start(count), false);
  const double norm = squared_norm<A>(Exec{}, gradient, 0);
  for_thread_counts([&](const Exec& exec) {
    const State found = computed<TestType>(exec, s, gradient, 4, start(count), false);
    CHECK((found.master == whole.master && found.m == whole.m && found.v == whole.v && found.compute == whole.compute));
    CHECK(squared_norm<A>(exec, gradient, 0) == norm);
  });
}
