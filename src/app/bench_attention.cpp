#include "app/bench_attention.hpp"

#include <algorithm>

#include "core/bf16.hpp"
#include "ops/attention.hpp"

namespace annulus::app {

namespace {

template <class T>
void fill(const Exec& exec, const Vector<T>& values) {
  Kokkos::parallel_for(
      "annulus::app::bench_attention_fill",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, values.size()),
      KOKKOS_LAMBDA(index_t n) { values(n) = static_cast<T>(static_cast<Accum<T>>(Kokkos::sin(1.3 * n))); });
}

template <class Call>
double fastest(const Exec& exec, int calls, const Call& call) {
  double best = 0;
  for (int n = 0; n <= calls; ++n) {  // the first warms up
    exec.fence();
    const Kokkos::Timer timer;
    call();
    exec.fence();
    if (n == 1 || (n > 1 && timer.seconds() < best)) best = timer.seconds();
  }
  return best;
}

template <class T>
void measure(const AttentionBench& bench, int dims, const char* type, std::vector<AttentionRate>& rates) {
  using A = Accum<T>;
  const Exec exec;
  const index_t tokens = bench.tokens, q_size = tokens * bench.q_heads * dims, kv_size = tokens * bench.kv_heads * dims;
  const ops::AttentionShape shape{bench.q_heads, bench.kv_heads, dims, 1 / std::sqrt(double(dims))};
  const auto kernel = ops::attention_kernel<T>("auto", shape);

  const Vector<T> q("q", q_size), k("k", kv_size), v("v", kv_size), out("out", q_size), dout("dout", q_size);
  const Vector<A> lse("lse", tokens * bench.q_heads), delta("delta", tokens * bench.q_heads), dq("dq", q_size),
      dk("dk", kv_size), dv("dv", kv_size),
      workspace("workspace", kernel->backward_workspace_size(shape, tokens, tokens));
  for (const auto& operand : {q, k, v, dout}) fill(exec, operand);
  const Vector<index_t> begin("begin", tokens), end("end", tokens);
  Kokkos::parallel_for(
      "annulus::app::bench_attention_causal", Kokkos::RangePolicy<Exec>(exec, 0, tokens),
      KOKKOS_LAMBDA(int i) { end(i) = i + 1; });

  ops::AttentionTokens all{{}, {}, begin.data(), end.data()};
  all.queries.size = all.keys.size = 1;
  all.queries.stretch[0] = all.keys.stretch[0] = {0, tokens};
  const auto of_q = [&](const auto& x) { return ops::Heads{x.data(), index_t(bench.q_heads) * dims, index_t(dims)}; };
  const auto of_kv = [&](const auto& x) { return ops::Heads{x.data(), index_t(bench.kv_heads) * dims, index_t(dims)}; };
  const auto forward = [&] {
    kernel->forward(exec, shape, all, of_q(q), of_kv(k), of_kv(v), {}, nullptr, of_q(out), lse.data());
  };
  const auto backward = [&] {
    kernel->row_dots(exec, shape, tokens, of_q(out), of_q(dout), delta.data());
    kernel->backward(exec, shape, all, of_q(q), of_kv(k), of_kv(v), of_q(dout), lse.data(), delta.data(),
                     Into::overwrite, of_q(dq), Into::overwrite, of_kv(dk), of_kv(dv), workspace.data());
  };
  const double product = 1e-9 * tokens * tokens * dims * bench.q_heads;  // of the causal half
  const auto add = [&](const char* pass, int products, double seconds) {
    rates.push_back({kernel->name(), type, pass, tokens, bench.q_heads, bench.kv_heads, dims, seconds,
                     products * product / seconds});
  };
  add("forward", 2, fastest(exec, bench.calls, forward));
  add("forward+backward", 7, fastest(exec, bench.calls, [&] { forward(), backward(); }));
}

}  // namespace

std::vector<AttentionRate> attention_rates(const AttentionBench& bench) {
  std::vector<AttentionRate> rates;
  for (const int dims : bench.head_dims) {
    measure<float>(bench, dims, "fp32", rates);
    measure<bf16>(bench, dims, "bf16", rates);
  }
  return rates;
}

}  // namespace annulus::app
