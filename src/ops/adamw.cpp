#include "ops/adamw.hpp"

#include <cmath>

#include "core/lanes.hpp"

namespace annulus::ops {

namespace {

constexpr index_t stretch = 4096;  // elements that a worker takes

index_t stretches_of(index_t count) { return (count + stretch - 1) / stretch; }

}  // namespace

template <class T>
void AdamW<T>::update(const Exec& exec, const AdamWStep& step, Vector<const A> gradient,
                      Vector<const double> squared_norm, Vector<A> master, Vector<A> m, Vector<A> v,
                      Vector<T> compute) {
  const index_t count = master.extent(0);
  assert(gradient.extent(0) == master.extent(0) && m.extent(0) == master.extent(0));
  assert(v.extent(0) == master.extent(0) && compute.extent(0) == master.extent(0) && step.step >= 1);
  const double steps = static_cast<double>(step.step), clip = step.clip;
  const A b1 = static_cast<A>(step.beta1), b2 = static_cast<A>(step.beta2), eps = static_cast<A>(step.eps);
  const A rest1 = static_cast<A>(1 - step.beta1), rest2 = static_cast<A>(1 - step.beta2);
  const A grown1 = static_cast<A>(1 / (1 - std::pow(step.beta1, steps)));  // m and v begin at zero
  const A grown2 = static_cast<A>(1 / (1 - std::pow(step.beta2, steps)));
  const A lr = static_cast<A>(step.lr), decay = static_cast<A>(step.decay);
  const RowSplit<A> row(count, gradient, master, m, v, compute);

  for_each_row(
      "annulus::ops::adamw_update", exec, stretches_of(count), KOKKOS_LAMBDA(const Worker& worker, index_t w) {
        const index_t begin = w * stretch;
        const double norm = Kokkos::sqrt(squared_norm(0));
        const A scale = static_cast<A>(clip > 0 && norm > clip ? clip / norm : 1.0);
        const A* g_w = gradient.data() + begin;
        A *p_w = master.data() + begin, *m_w = m.data() + begin, *v_w = v.data() + begin;
        T* compute_w = compute.data() + begin;
        for_each_lanes(worker, row.part(begin, stretch), [&](auto i) {
          const auto g = load(g_w, i) * scale, p = load(p_w, i);
          const auto m_i = load(m_w, i) * b1 + g * rest1, v_i = load(v_w, i) * b2 + g * g * rest2;
          const auto updated = p - (m_i * grown1 / (sqrt(v_i * grown2) + eps) + p * decay) * lr;
          store(m_w, i, m_i);
          store(v_w, i, v_i);
          store(p_w, i, updated);
          store(compute_w, i, updated);
        });
      });
}

index_t squared_norm_workspace(index_t count) { return stretches_of(count); }

template <class A>
void add_squared_norm(const Exec& exec, Vector<const A> values, Vector<double> squared_norm, Vector<double> workspace) {
  const index_t count = values.extent(0), stretches = stretches_of(count);
  assert(index_t(workspace.extent(0)) >= stretches);
  const RowSplit<double> row(count, values);
  for_each_row(
      "annulus::ops::squared_norm", exec, stretches, KOKKOS_LAMBDA(const Worker& worker, index_t w) {
        const A* values_w = values.data() + w * stretch;
        const double squares = row_sum(worker, row.part(w * stretch, stretch), [&](auto i) {
          const auto wide = widened(load(values_w, i));
          return wide * wide;
        });
        Kokkos::single(Kokkos::PerThread(worker), [&] { workspace(w) = squares; });
      });

  const RowSplit<double> partial(stretches, workspace);
  for_each_row(
      "annulus::ops::squared_norm[total]", exec, 1, KOKKOS_LAMBDA(const Worker& worker, index_t) {
        const double squares = row_sum(worker, partial, [&](auto i) { return load(workspace.data(), i); });
        Kokkos::single(Kokkos::PerThread(worker), [&] { squared_norm(0) += squares; });
      });
}

template struct AdamW<float>;
template struct AdamW<double>;
template struct AdamW<bf16>;
template void add_squared_norm<float>(const Exec&, Vector<const float>, Vector<double>, Vector<double>);
template void add_squared_norm<double>(const Exec&, Vector<const double>, Vector<double>, Vector<double>);

}  // namespace annulus::ops
