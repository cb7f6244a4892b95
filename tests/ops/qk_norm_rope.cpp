#include "ops/qk_norm_rope.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <numeric>

#include "ops/budget.hpp"

using namespace annulus;
using namespace annulus::ops;
using namespace annulus::test;

namespace {

constexpr double eps = 1e-3, theta = 100;
constexpr index_t table_positions = 64;

struct Case {
  QkvShape shape;
  index_t tokens;
  bool norm, rotation;
  Numbers qkv, q_gain, k_gain, dout;  ///< dout: gradients of q | k | v
  std::vector<index_t> positions;

  Case(QkvShape shape, index_t tokens, bool norm, bool rotation)
      : shape(shape),
        tokens(tokens),
        norm(norm),
        rotation(rotation),
        qkv(wave(tokens * shape.width(), 1.3)),
        q_gain(wave(shape.head_dim, 0.9, 1.5)),
        k_gain(wave(shape.head_dim, 0.4, -1.5)),
        dout(wave(tokens * shape.width(), 0.7)),
        positions(tokens) {
    for (index_t t = 0; t < tokens; ++t) positions[t] = (7 * t + 3) % table_positions;  // documents restart
  }
  template <class T>
  Case seen_by() const {
    Case other = *this;
    other.qkv = rounded<T>(qkv), other.dout = rounded<Accum<T>>(dout);
    other.q_gain = rounded<T>(q_gain), other.k_gain = rounded<T>(k_gain);
    return other;
  }
};

struct Result {
  Numbers out, dqkv, dq_gain, dk_gain;
};

/// The definition: norm, then the rotation of each pair by its angle, whose table A holds rounded.
template <class A>
Result naive(const Case& c, double held) {
  const index_t d = c.shape.head_dim, width = c.shape.width();
  const int heads = c.shape.q_heads + 2 * c.shape.kv_heads;
  Result r{Numbers(c.qkv.size()), Numbers(c.qkv.size()), Numbers(d, held), Numbers(d, held)};
  for (index_t t = 0; t < c.tokens; ++t)
    for (int h = 0; h < heads; ++h) {
      const bool query = h < c.shape.q_heads, value = h >= c.shape.q_heads + c.shape.kv_heads;
      const double* x = c.qkv.data() + t * width + h * d;
      const double* dout = c.dout.data() + t * width + h * d;
      double *out = r.out.data() + t * width + h * d, *dx = r.dqkv.data() + t * width + h * d;
      Numbers y(x, x + d), dy(dout, dout + d);
      const Numbers& gain = query ? c.q_gain : c.k_gain;
      const bool norm = c.norm && !value;
      double squares = 0, slope = 0;
      for (index_t i = 0; i < d; ++i) squares += x[i] * x[i];
      const double rstd = 1 / std::sqrt(squares / d + eps);
      if (norm)
        for (index_t i = 0; i < d; ++i) y[i] = x[i] * rstd * gain[i];
      if (c.rotation && !value)
        for (index_t k = 0; k < d / 2; ++k) {
          const double angle = c.positions[t] * std::pow(theta, -2.0 * k / d);
          const double cosine = static_cast<A>(std::cos(angle)), sine = static_cast<A>(std::sin(angle));
          const double a = y[k], b = y[k + d / 2], da = dout[k], db = dout[k + d / 2];
          y[k] = a * cosine - b * sine, y[k + d / 2] = a * sine + b * cosine;
          dy[k] = da * cosine + db * sine, dy[k + d / 2] = db * cosine - da * sine;
        }
      for (index_t i = 0; i < d; ++i) out[i] = y[i], dx[i] = dy[i];
      if (!norm) continue;
      Numbers& dgain = query ? r.dq_gain : r.dk_gain;
      for (index_t i = 0; i < d; ++i) slope += dy[i] * gain[i] * x[i];
      for (index_t i = 0; i < d; ++i) {
        dgain[i] += dy[i] * x[i] * rstd;
        dx[i] = dy[i] * gain[i] * rstd - x[i] * slope * std::pow(rstd, 3) / d;
      }
    }
  return r;
}

/// A part of a fused buffer of all heads, as attention reads it: its pitch is the buffer's.
template <class T>
Heads<T> part(T* fused, const QkvShape& shape, int first_head) {
  return {fused + index_t(first_head) * shape.head_dim, shape.width(), shape.head_dim};
}

template <class T>
Result computed(const Exec& exec, const Case& c, double held, bool in_place = false) {
  using A = Accum<T>;
  const index_t d = c.shape.head_dim, width = c.shape.width(), tokens = c.tokens;
  const int q_heads = c.shape.q_heads, k_end = q_heads + c.shape.kv_heads;
  const auto qkv = matrix<T>(c.qkv, tokens, width);
  const RopeTable table = rope_table(table_positions, static_cast<int>(d), theta);
  Vector<index_t> positions("positions", tokens);
  Kokkos::deep_copy(positions, Kokkos::View<const index_t*, Kokkos::HostSpace>(c.positions.data(), tokens));
  typename QkNormRope<T>::Inputs in{c.shape, qkv, {}, {}, eps, positions, {}, {}};
  if (c.norm) in.q_gain = upload<T>(c.q_gain), in.k_gain = upload<T>(c.k_gain);
  if (c.rotation) {
    in.cosines = matrix<A>(table.cosines, table_positions, d / 2);
    in.sines = matrix<A>(table.sines, table_positions, d / 2);
  }
  const auto out = poisoned<T>(tokens * width);
  const auto dout = upload<A>(c.dout);
  const auto dqkv = in_place ? qkv : poisoned_matrix<T>(tokens, width);
  const auto dq_gain = upload<A>(Numbers(d, held)), dk_gain = upload<A>(Numbers(d, held));
  const auto workspace = poisoned<A>(QkNormRope<T>::workspace_size(c.shape, tokens));
  Kokkos::fence();

  QkNormRope<T>::forward(exec, in, part(out.data(), c.shape, 0), part(out.data(), c.shape, q_heads),
                         part(out.data(), c.shape, k_end));
  const A* gradients = dout.data();
  QkNormRope<T>::backward(exec, in, part(gradients, c.shape, 0), part(gradients, c.shape, q_heads),
                          part(gradients, c.shape, k_end), dqkv, dq_gain, dk_gain, workspace);
  exec.fence();
  return {download(out), download(dqkv), download(dq_gain), download(dk_gain)};
}

}  // namespace

TEMPLATE_TEST_CASE("qk_norm_rope: equals the definition, each part alone and together", "[ops]", float, double, bf16) {
  using T = TestType;
  using A = Accum<T>;
  const auto [q_heads, kv_heads, head_dim] =
      GENERATE(table<int, int, int>({{1, 1, 2}, {3, 1, 6}, {4, 2, 64}, {2, 2, 40}}));
  const index_t tokens = GENERATE(0, 1, 37, 70);
  const bool norm = GENERATE(false, true), rotation = GENERATE(false, true);
  CAPTURE(q_heads, kv_heads, head_dim, tokens, norm, rotation);
  const Case c = Case({q_heads, kv_heads, head_dim}, tokens, norm, rotation).seen_by<T>();
  const double held = 0.75;  // what the gains' gradients hold already
  const Result expected = naive<A>(c, held);
  for (const bool in_place : {false, true}) {
    const Result found = computed<T>(Exec{}, c, held, in_place);
    CHECK(agrees<T>(found.out, expected.out, 24, 6));
    CHECK(agrees<T>(found.dqkv, expected.dqkv, 24, 20));
    CHECK(agrees<A>(found.dq_gain, expected.dq_gain, 24, 1 + 3.0 * tokens * q_heads));
    CHECK(agrees<A>(found.dk_gain, expected.dk_gain, 24, 1 + 3.0 * tokens * kv_heads));
  }
}

TEST_CASE("qk_norm_rope: gradients are the finite differences of the operator itself", "[ops]") {
  Case c({2, 1, 6}, 3, true, true);
  const Result found = computed<double>(Exec{}, c, 0);
  const auto loss = [&] {
    const Numbers out = computed<double>(Exec{}, c, 0).out;
    return std::inner_product(out.begin(), out.end(), c.dout.begin(), 0.0);
  };
  CHECK(is_slope(found.dqkv, c.qkv, loss, 1e-6, 1e-8));
  CHECK(is_slope(found.dq_gain, c.q_gain, loss, 1e-6, 1e-8));
  CHECK(is_slope(found.dk_gain, c.k_gain, loss, 1e-6, 1e-8));
}

TEST_CASE("qk_norm_rope: scores depend on the distance of two positions alone", "[ops]") {
  const index_t d = 16;
  const auto score = [&](index_t q_position, index_t k_position) {
    Case c({1, 1, int(d)}, 2, false, true);
    c.positions = {q_position, k_position};
    const Numbers out = computed<double>(Exec{}, c, 0).out;
    return std::inner_product(out.begin(), out.begin() + d, out.begin() + 3 * d + d, 0.0);
  };
  const double at_5 = score(9, 4);
  CHECK(std::abs(score(25, 20) - at_5) <= 1e-13 * d);
  CHECK(std::abs(score(26, 20) - at_5) > 1e-3);
}

TEMPLATE_TEST_CASE("qk_norm_rope: results are the same bits on any number of threads", "[ops]", float, double, bf16) {
  if (!on_gpu && Exec{}.concurrency() < 3) SKIP("needs OMP_NUM_THREADS >= 3, as ctest sets it");
  const Case c({4, 2, 40}, 200, true, true);
  const Result whole = computed<TestType>(Exec{}, c, 0);
  for_thread_counts([&](const Exec& exec) {
    const Result found = computed<TestType>(exec, c, 0);
    CHECK((found.out == whole.out && found.dqkv == whole.dqkv));
    CHECK((found.dq_gain == whole.dq_gain && found.dk_gain == whole.dk_gain));
  });
}
