#include "app/bench_attention.hpp"

#ifdef ANNULUS_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>
#endif

#include "app/bench_seconds.hpp"
#include "core/bf16.hpp"
#include "core/text.hpp"
#include "ops/attention.hpp"
#include "ops/gemm.hpp"

namespace annulus::app {

namespace {

constexpr index_t length = 2048;
constexpr int q_heads = 4, kv_heads = 2;

/// fp32, 2048 x 2048 x 2048: oneDNN called directly where it is, the seam elsewhere.
class Product {
 public:
  Product() : a_("annulus::app::a", n, n), b_("annulus::app::b", n, n), c_("annulus::app::c", n, n) {
    Kokkos::deep_copy(a_, 1.0f);
    Kokkos::deep_copy(b_, 1.0f);
  }
#ifdef ANNULUS_ONEDNN
  static constexpr const char* name = "oneDNN fp32 2048^3";
  void operator()(const Exec&) const {
    dnnl::sgemm('N', 'N', n, n, n, 1.0f, a_.data(), n, b_.data(), n, 0.0f, c_.data(), n);
  }
#else
  static constexpr const char* name = "gemm fp32 2048^3";
  void operator()(const Exec& exec) const {
    ops::Gemm<float>::run(exec, ops::Operand<const float>(a_), ops::Operand<const float>(b_), Into::overwrite, c_);
  }
#endif
  static constexpr double operations = 2e-9 * 2048 * 2048 * 2048;

 private:
  static constexpr index_t n = 2048;
  Matrix<float> a_, b_, c_;
};

/// Smooth values of all sizes: constants would make all logits equal. A function, since nvcc allows no lambda in a
/// constructor.
template <class T>
void fill(const Exec& exec, const Vector<T>& values) {
  Kokkos::parallel_for(
      "annulus::app::bench_attention_fill",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, values.size()),
      KOKKOS_LAMBDA(index_t n) { values(n) = static_cast<T>(Kokkos::sin(1.3f * static_cast<float>(n))); });
}

/// A tensor (length, heads, head_dim).
template <class T>
struct Tensor {
  int heads, dims;
  Vector<T> values;

  Tensor(const Exec& exec, int heads, int dims)
      : heads(heads), dims(dims), values("annulus::app::tensor", length * heads * dims) {
    fill(exec, values);
  }
  operator ops::Heads<T>() const { return {values.data(), index_t(heads) * dims, dims}; }
  operator ops::Heads<const T>() const { return {values.data(), index_t(heads) * dims, dims}; }
};

template <class T>
void measure(const Exec& exec, const Product& product, const char* type, int dims, std::vector<BenchRow>& rows) {
  using A = Accum<T>;
  const ops::AttentionShape shape{q_heads, kv_heads, dims, 1 / std::sqrt(double(dims))};
  const auto kernel = ops::attention_kernel<T>("auto", shape);

  const Tensor<T> q(exec, q_heads, dims), k(exec, kv_heads, dims), v(exec, kv_heads, dims), out(exec, q_heads, dims),
      dout(exec, q_heads, dims);
  const Tensor<A> dq(exec, q_heads, dims), dk(exec, kv_heads, dims), dv(exec, kv_heads, dims);
  const Vector<A> lse("annulus::app::lse", q_heads * length), delta("annulus::app::delta", q_heads * length),
      workspace("annulus::app::workspace", kernel->backward_workspace_size(shape, length, length));
  const Vector<index_t> begin("annulus::app::begin", length), end("annulus::app::end", length);
  Kokkos::parallel_for(
      "annulus::app::bench_attention_causal", Kokkos::RangePolicy<Exec>(exec, 0, length),
      KOKKOS_LAMBDA(int i) { end(i) = i + 1; });
  ops::AttentionTokens all{{}, {}, begin.data(), end.data()};
  all.queries.size = all.keys.size = 1;
  all.queries.stretch[0] = all.keys.stretch[0] = {0, length};

  const auto forward = [&] { kernel->forward(exec, shape, all, q, k, v, {}, nullptr, out, lse.data()); };
  const auto backward = [&] {
    kernel->row_dots(exec, shape, length, out, dout, delta.data());
    kernel->backward(exec, shape, all, q, k, v, dout, lse.data(), delta.data(), Into::overwrite, dq, Into::overwrite,
                     dk, dv, workspace.data());
  };
  const auto add = [&](const std::string& pass, int products, const auto& call) {
    const auto [seconds, yardstick] = median_seconds(
        exec, call, [&] { product(exec); }, 9);
    const double operations = 1e-9 * products * length * length * dims * q_heads;
    rows.push_back({text(pass, "[", kernel->name(), "]"), type,
                    text(length, " x ", q_heads, ":", kv_heads, " x ", dims), seconds, operations / seconds, "GFLOP/s",
                    Product::name, Product::operations / yardstick});
  };
  add("forward", 2, forward);
  add("fwd+bwd", 7, [&] { forward(), backward(); });
}

}  // namespace

std::vector<BenchRow> bench_attention(const Exec& exec) {
  const Product product;
  std::vector<BenchRow> rows;
  for (const int dims : {32, 64, 128}) {
    measure<float>(exec, product, "fp32", dims, rows);
    measure<bf16>(exec, product, "bf16", dims, rows);
  }
  return rows;
}

}  // namespace annulus::app
