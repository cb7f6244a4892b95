#include "app/bench_ops.hpp"

#include "app/bench_seconds.hpp"
#include "core/bf16.hpp"
#include "core/text.hpp"
#include "ops/adamw.hpp"
#include "ops/embedding.hpp"
#include "ops/qk_norm_rope.hpp"
#include "ops/residual_norm.hpp"
#include "ops/rms_norm.hpp"
#include "ops/swiglu.hpp"

namespace annulus::app {

namespace {

constexpr index_t tokens = on_gpu ? 16384 : 8192, width = 1024, vocabulary = 256;

/// Rows of one type. Arrays are those that an operator reads or writes, each once.
template <class T>
class Rows {
 public:
  using A = Accum<T>;
  Rows(const Exec& exec, const char* type, std::vector<BenchRow>& rows) : exec_(exec), type_(type), rows_(rows) {}

  void measure() {
    norms();
    swiglu();
    heads();
    embedding();
    optimizer();
  }

 private:
  static Matrix<T> ones(index_t columns) {
    Matrix<T> matrix("annulus::app::bench", tokens, columns);
    Kokkos::deep_copy(matrix, T(1.0f));
    return matrix;
  }

  template <class Call>
  void add(const std::string& name, index_t columns, index_t bytes, const Call& call) {
    const auto [seconds, copy] = median_seconds(exec_, call, [&] { Kokkos::deep_copy(exec_, to_, from_); });
    const double copied = 2.0 * static_cast<double>(from_.size() * sizeof(float));
    rows_.push_back({name, type_, text(tokens, " x ", columns), seconds, 1e-9 * static_cast<double>(bytes) / seconds,
                     "GB/s", "copy", 1e-9 * copied / copy});
  }

  void norms() {
    const auto x = ones(width), y = ones(width), dy = ones(width), dx = ones(width);
    const Vector<T> gain("annulus::app::gain", width);
    const Vector<A> rstd("annulus::app::rstd", tokens), dgain("annulus::app::dgain", width);
    const Vector<A> workspace("annulus::app::workspace", ops::RmsNorm<T>::workspace_size(tokens, width));
    const index_t array = tokens * width * sizeof(T);
    add("rms_norm forward", width, 2 * array, [&] { ops::RmsNorm<T>::forward(exec_, x, gain, 1e-5, y, rstd); });
    add("rms_norm backward", width, 3 * array,
        [&] { ops::RmsNorm<T>::backward(exec_, dy, x, gain, rstd, Into::overwrite, dx, dgain, workspace); });
    add("residual_norm forward", width, 4 * array,
        [&] { ops::ResidualNorm<T>::forward(exec_, x, dy, gain, 1e-5, dx, y, rstd); });
  }

  void swiglu() {
    const auto gate_up = ones(2 * width), dgate_up = ones(2 * width), hidden = ones(width);
    const index_t array = tokens * width * sizeof(T);
    add("swiglu forward", width, 3 * array, [&] { ops::SwiGlu<T>::forward(exec_, gate_up, hidden); });
    add("swiglu backward", width, 5 * array, [&] { ops::SwiGlu<T>::backward(exec_, hidden, gate_up, dgate_up); });
  }

  void heads() {
    const ops::QkvShape shape{8, 4, 64};
    const auto qkv = ones(shape.width()), out = ones(shape.width());
    const Matrix<A> gradient("annulus::app::gradient", tokens, shape.width());
    const Vector<T> gain("annulus::app::gain", shape.head_dim);
    const Vector<A> dgain("annulus::app::dgain", shape.head_dim);
    const Vector<index_t> positions("annulus::app::positions", tokens);
    const Matrix<A> table("annulus::app::table", 1, shape.head_dim / 2);
    const Vector<A> workspace("annulus::app::workspace", ops::QkNormRope<T>::workspace_size(shape, tokens));
    const typename ops::QkNormRope<T>::Inputs in{shape, qkv, gain, gain, 1e-5, positions, table, table};
    const auto part = [&](auto* data, int head) {
      return ops::Heads<std::remove_pointer_t<decltype(data)>>{data + head * shape.head_dim, shape.width(),
                                                               shape.head_dim};
    };
    const index_t array = tokens * shape.width();
    const auto as_input = [](auto x) { return ops::Heads<const A>(x); };
    const int k_head = shape.q_heads, v_head = shape.q_heads + shape.kv_heads;
    add("qk_norm_rope forward", shape.width(), 2 * array * sizeof(T), [&] {
      ops::QkNormRope<T>::forward(exec_, in, part(out.data(), 0), part(out.data(), k_head), part(out.data(), v_head));
    });
    add("qk_norm_rope backward", shape.width(), array * (2 * sizeof(T) + sizeof(A)), [&] {
      A* d = gradient.data();
      ops::QkNormRope<T>::backward(exec_, in, as_input(part(d, 0)), as_input(part(d, k_head)),
                                   as_input(part(d, v_head)), out, dgain, dgain, workspace);
    });
  }

  void embedding() {
    const auto x = ones(width);
    const Matrix<T> table("annulus::app::table", vocabulary, width);
    const Matrix<A> dtable("annulus::app::dtable", vocabulary, width);
    const Vector<std::int32_t> ids("annulus::app::ids", tokens);
    const auto host_ids = Kokkos::create_mirror_view(ids);
    for (index_t t = 0; t < tokens; ++t) host_ids(t) = static_cast<std::int32_t>(t * t % 251 % vocabulary);
    Kokkos::deep_copy(ids, host_ids);
    const Vector<std::int32_t> workspace("annulus::app::workspace",
                                         ops::Embedding<T>::workspace_size(tokens, vocabulary));
    const index_t array = tokens * width * sizeof(T);  // the table stays in a cache
    add("embedding forward", width, array, [&] { ops::Embedding<T>::forward(exec_, ids, table, x); });
    add("embedding backward", width, array, [&] { ops::Embedding<T>::backward(exec_, ids, x, dtable, workspace); });
  }

  void optimizer() {
    const index_t count = tokens * width;
    const Vector<A> gradient("annulus::app::gradient", count), master("annulus::app::master", count),
        m("annulus::app::m", count), v("annulus::app::v", count);
    Vector<T> compute;
    if constexpr (std::is_same_v<T, A>)
      compute = master;
    else
      compute = Vector<T>("annulus::app::compute", count);
    const Vector<double> norm("annulus::app::norm", 1),
        workspace("annulus::app::workspace", ops::squared_norm_workspace(count));
    const ops::AdamWStep step{1e-3, 0.9, 0.95, 1e-8, 0.1, 10, 1.0};
    const index_t apart = std::is_same_v<T, A> ? 0 : sizeof(T);
    add("adamw", width, count * (7 * sizeof(A) + apart),
        [&] { ops::AdamW<T>::update(exec_, step, gradient, norm, master, m, v, compute); });
    if constexpr (std::is_same_v<T, A>)
      add("squared norm", width, count * sizeof(A),
          [&] { ops::add_squared_norm<A>(exec_, gradient, norm, workspace); });
  }

  const Exec& exec_;
  const char* type_;
  std::vector<BenchRow>& rows_;
  Matrix<float> from_{"annulus::app::from", tokens, width}, to_{"annulus::app::to", tokens, width};
};

}  // namespace

std::vector<BenchRow> bench_ops(const Exec& exec) {
  std::vector<BenchRow> rows;
  Rows<float>(exec, "fp32", rows).measure();
  Rows<bf16>(exec, "bf16", rows).measure();
  return rows;
}

}  // namespace annulus::app
