#include "ops/swiglu.hpp"

#include "core/exp2.hpp"
#include "core/lanes.hpp"

namespace annulus::ops {

namespace {

/// The columns of gate and those of up. Rows keep the pitch of both together.
template <class T>
auto halves(const Matrix<T>& gate_up) {
  const index_t ffn = gate_up.extent(1) / 2;
  return std::pair(Kokkos::subview(gate_up, Kokkos::ALL, std::pair<index_t, index_t>(0, ffn)),
                   Kokkos::subview(gate_up, Kokkos::ALL, std::pair<index_t, index_t>(ffn, 2 * ffn)));
}

/// 1 / sigmoid(x).
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V inverse_sigmoid(V x) {
  return exp(V{} - x) + 1;
}

}  // namespace

template <class T>
void SwiGlu<T>::forward(const Exec& exec, Matrix<const T> gate_up, Matrix<T> hidden) {
  assert(gate_up.extent(0) == hidden.extent(0) && gate_up.extent(1) == 2 * hidden.extent(1));
  const auto [gates, ups] = halves(gate_up);
  const auto gate = gates, up = ups;  // a lambda for a device cannot capture a binding
  const RowSplit<T> row(hidden.extent(1), gate, up, hidden);

  for_each_row(
      "annulus::ops::swiglu_forward", exec, hidden.extent(0), KOKKOS_LAMBDA(const Worker& worker, index_t t) {
        const T *gate_t = row_of(gate, t), *up_t = row_of(up, t);
        T* hidden_t = row_of(hidden, t);
        for_each_lanes(worker, row, [&](auto i) {
          const auto g = load(gate_t, i);
          store_result(row, hidden_t, i, g * load(up_t, i) / inverse_sigmoid(g));
        });
      });
}

template <class T>
void SwiGlu<T>::backward(const Exec& exec, Matrix<const T> dhidden, Matrix<const T> gate_up, Matrix<T> dgate_up) {
  using A = Accum<T>;
  assert(gate_up.extent(0) == dhidden.extent(0) && gate_up.extent(1) == 2 * dhidden.extent(1));
  assert(gate_up.extent(0) == dgate_up.extent(0) && gate_up.extent(1) == dgate_up.extent(1));
  const auto [gates, ups] = halves(gate_up);
  const auto [dgates, dups] = halves(dgate_up);
  const auto gate = gates, up = ups;
  const auto dgate = dgates, dup = dups;
  const RowSplit<T> row(dhidden.extent(1), dhidden, gate, up, dgate, dup);

  for_each_row(
      "annulus::ops::swiglu_backward", exec, dhidden.extent(0), KOKKOS_LAMBDA(const Worker& worker, index_t t) {
        const T *dhidden_t = row_of(dhidden, t), *gate_t = row_of(gate, t), *up_t = row_of(up, t);
        T *dgate_t = row_of(dgate, t), *dup_t = row_of(dup, t);
        for_each_lanes(worker, row, [&](auto i) {
          const auto dh = load(dhidden_t, i), g = load(gate_t, i), u = load(up_t, i), s = 1 / inverse_sigmoid(g);
          store_result(row, dgate_t, i, dh * u * s * (A(1) + g * (A(1) - s)));
          store_result(row, dup_t, i, dh * g * s);
        });
      });
}

template struct SwiGlu<float>;
template struct SwiGlu<double>;
template struct SwiGlu<bf16>;

}  // namespace annulus::ops
