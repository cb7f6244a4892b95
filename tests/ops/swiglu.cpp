#include "ops/swiglu.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <numeric>

#include "ops/budget.hpp"

using namespace annulus;
using namespace annulus::test;
using ops::SwiGlu;

namespace {

struct Result {
  Numbers hidden, dgate_up;
  Numbers hidden_size, dgate_up_size;  // of the terms
};

Result naive(const Numbers& gate_up, const Numbers& dhidden, index_t ffn) {
  const index_t tokens = ffn ? dhidden.size() / ffn : 0;
  Result out{Numbers(dhidden.size()), Numbers(gate_up.size()), Numbers(dhidden.size()), Numbers(gate_up.size())};
  for (index_t t = 0; t < tokens; ++t)
    for (index_t i = 0; i < ffn; ++i) {
      const index_t at_gate = t * 2 * ffn + i, at_up = at_gate + ffn, at = t * ffn + i;
      const double g = gate_up[at_gate], u = gate_up[at_up], dh = dhidden[at], s = 1 / (1 + std::exp(-g));
      out.hidden[at] = g * s * u;
      out.dgate_up[at_gate] = dh * u * (s + g * s * (1 - s));
      out.dgate_up[at_up] = dh * g * s;
      out.hidden_size[at] = std::abs(g * s * u);
      out.dgate_up_size[at_gate] = std::abs(dh * u) * s * (1 + std::abs(g));
      out.dgate_up_size[at_up] = std::abs(dh * g) * s;
    }
  return out;
}

template <class T>
Result computed(const Exec& exec, const Numbers& gate_up, const Numbers& dhidden, index_t tokens, index_t ffn,
                bool in_place) {
  const auto GU = matrix<T>(gate_up, tokens, 2 * ffn);
  const auto dH = matrix<T>(dhidden, tokens, ffn);
  const auto H = poisoned_matrix<T>(tokens, ffn);
  const auto dGU = in_place ? GU : poisoned_matrix<T>(tokens, 2 * ffn);
  Kokkos::fence();
  SwiGlu<T>::forward(exec, GU, H);
  SwiGlu<T>::backward(exec, dH, GU, dGU);
  exec.fence();
  return {download(H), download(dGU), {}, {}};
}

}  // namespace

TEMPLATE_TEST_CASE("swiglu: equals the definition, saturated gates included", "[ops]", float, double, bf16) {
  using T = TestType;
  const index_t ffn = GENERATE(1, 7, 48, 257), tokens = GENERATE(0, 1, 5, 33);
  const double reach = GENERATE(2.0, 60.0);
  CAPTURE(ffn, tokens, reach);
  const Numbers gate_up = rounded<T>(scaled(wave(tokens * 2 * ffn, 1.3), reach));
  const Numbers dhidden = rounded<T>(wave(tokens * ffn, 0.7));
  const Result expected = naive(gate_up, dhidden, ffn);
  for (const bool in_place : {false, true}) {
    const Result found = computed<T>(Exec{}, gate_up, dhidden, tokens, ffn, in_place);
    // exp to 2 ulp, 1 + it, the quotient and at most five products and sums, each of which scales what came before
    CHECK(agrees<T>(found.hidden, expected.hidden, 12, expected.hidden_size));
    CHECK(agrees<T>(found.dgate_up, expected.dgate_up, 16, expected.dgate_up_size));
  }
}

TEST_CASE("swiglu: gates beyond the range of exp give 0 or the gate itself, never NaN", "[ops]") {
  const Numbers gate_up{-1e30, -200, 200, 1e30, 1, 1, 1, 1}, dhidden{1, 1, 1, 1};
  const Result found = computed<float>(Exec{}, gate_up, dhidden, 1, 4, false);
  const Numbers gates = rounded<float>(gate_up);
  CHECK(found.hidden == Numbers{0, 0, gates[2], gates[3]});
  CHECK(found.dgate_up == Numbers{0, 0, 1, 1, 0, 0, gates[2], gates[3]});
}

TEST_CASE("swiglu: gradients are the finite differences of the operator itself", "[ops]") {
  const index_t tokens = 2, ffn = 5;
  Numbers gate_up = scaled(wave(tokens * 2 * ffn, 1.3), 3);
  const Numbers dhidden = wave(tokens * ffn, 0.7);
  const Numbers gradient = computed<double>(Exec{}, gate_up, dhidden, tokens, ffn, false).dgate_up;
  const auto loss = [&] {
    const Numbers hidden = computed<double>(Exec{}, gate_up, dhidden, tokens, ffn, false).hidden;
    return std::inner_product(hidden.begin(), hidden.end(), dhidden.begin(), 0.0);
  };
  CHECK(is_slope(gradient, gate_up, loss, 1e-5, 1e-8));
}

TEMPLATE_TEST_CASE("swiglu: results are the same bits on any number of threads", "[ops]", float, double, bf16) {
  if (!on_gpu && Exec{}.concurrency() < 3) SKIP("needs OMP_NUM_THREADS >= 3, as ctest sets it");
  const index_t ffn = 100, tokens = 37;
  const Numbers gate_up = wave(tokens * 2 * ffn, 1.3), dhidden = wave(tokens * ffn, 0.7);
  const Result whole = computed<TestType>(Exec{}, gate_up, dhidden, tokens, ffn, false);
  for_thread_counts([&](const Exec& exec) {
    const Result found = computed<TestType>(exec, gate_up, dhidden, tokens, ffn, false);
    CHECK((found.hidden == whole.hidden && found.dgate_up == whole.dgate_up));
  });
}
