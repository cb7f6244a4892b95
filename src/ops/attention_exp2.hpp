/// 2^x for packs of exponents that are not positive.
#pragma once
#include "core/pack.hpp"

namespace annulus {

/// 2^x for x <= 0 or so; 0 below the normal range.
#ifdef KOKKOS_ENABLE_CUDA
template <class A, int N>
KOKKOS_FORCEINLINE_FUNCTION Pack<A, N> exp2(Pack<A, N> x) {
  for (int l = 0; l < N; ++l) x[l] = Kokkos::exp2(x[l]);
  return x;
}
#else
template <class P>
KOKKOS_FORCEINLINE_FUNCTION P exp2(P x) {
  using A = std::decay_t<decltype(x[0])>;
  constexpr int N = sizeof(P) / sizeof(A);
  constexpr bool is_float = sizeof(A) == 4;
  using I = std::conditional_t<is_float, std::int32_t, std::int64_t>;
  using PI [[gnu::vector_size(sizeof(P))]] = I;
  constexpr A magic = is_float ? A(12582912.0) : A(6755399441055744.0), least = is_float ? -126 : -1022;
  constexpr int degree = is_float ? 6 : 13;
  P c = x < least ? P{} + least : x;
  c = c > 128 ? P{} + 128 : c;
  const P whole = c + magic, f = c - (whole - magic);
  constexpr A ln2 = A(0.693147180559945309);
  A coefficient[degree + 1] = {1};
  for (int k = 1; k <= degree; ++k) coefficient[k] = coefficient[k - 1] * ln2 / A(k);
  P p = P{} + coefficient[degree];
#pragma GCC unroll 16
  for (int k = degree - 1; k >= 0; --k) p = p * f + coefficient[k];
  const PI bits = Kokkos::bit_cast<PI>(p) + (Kokkos::bit_cast<PI>(whole) << (is_float ? 23 : 52));
  (void)N;
  return x < least ? P{} : Kokkos::bit_cast<P>(bits);
}
#endif

}  // namespace annulus
