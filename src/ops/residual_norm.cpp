#include "ops/residual_norm.hpp"

#include "core/lanes.hpp"

namespace annulus::ops {

template <class T, class R>
void ResidualNorm<T, R>::forward(const Exec& exec, Matrix<const R> x, Matrix<const T> branch, Vector<const T> gain,
                                 double eps, Matrix<R> sum, Matrix<T> y, Vector<Accum<T>> rstd) {
  using A = Accum<T>;
  const index_t tokens = x.extent(0), width = x.extent(1);
  assert(branch.extent(0) == x.extent(0) && branch.extent(1) == x.extent(1) && gain.extent(0) == x.extent(1));
  assert(sum.extent(0) == x.extent(0) && sum.extent(1) == x.extent(1) && rstd.extent(0) == x.extent(0));
  assert(y.extent(0) == x.extent(0) && y.extent(1) == x.extent(1));
  const RowSplit<T> row(width, x, branch, gain, sum, y);

  for_each_row(
      "annulus::ops::residual_norm_forward", exec, tokens, KOKKOS_LAMBDA(const Worker& worker, index_t t) {
        const R* x_t = row_of(x, t);
        const T* branch_t = row_of(branch, t);
        R* sum_t = row_of(sum, t);
        T* y_t = row_of(y, t);
        const A squares = row_sum(worker, row, [&](auto i) {
          store(sum_t, i, load(x_t, i) + load(branch_t, i));
          const auto rounded = load(sum_t, i);  // what backward will see
          return rounded * rounded;
        });
        const A scale = 1 / Kokkos::sqrt(squares / A(row.width) + A(eps));
        for_each_lanes(worker, row, [&](auto i) {
          prefetch(x_t + row.width, i);
          prefetch(branch_t + row.width, i);
          store_result(row, y_t, i, load(sum_t, i) * scale * load(gain.data(), i));
        });
        Kokkos::single(Kokkos::PerThread(worker), [&] { rstd(t) = scale; });
      });
}

template struct ResidualNorm<float>;
template struct ResidualNorm<double>;
template struct ResidualNorm<bf16>;
template struct ResidualNorm<bf16, float>;

}  // namespace annulus::ops
