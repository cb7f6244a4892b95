#include "cp/gradient_sum.hpp"

#include <cassert>

#include "core/views.hpp"

namespace annulus::cp {

namespace {

template <class A>
void fold(const Exec& exec, Into into, const A* mine, A* sum, index_t count) {
  const bool add = into == Into::add;
  Kokkos::parallel_for(
      "annulus::cp::fold_gradient", Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, count),
      KOKKOS_LAMBDA(index_t i) { sum[i] = add ? sum[i] + mine[i] : mine[i]; });
}

}  // namespace

void fold_gradient(const Exec& exec, Into into, Scalar type, const void* mine, void* sum, index_t count) {
  assert(type == Scalar::fp32 || type == Scalar::fp64);
  if (type == Scalar::fp64)
    fold(exec, into, static_cast<const double*>(mine), static_cast<double*>(sum), count);
  else
    fold(exec, into, static_cast<const float*>(mine), static_cast<float*>(sum), count);
}

}  // namespace annulus::cp
