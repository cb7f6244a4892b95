/// Exponentials and masks of packs of logits. Logits are in the unit of log2, so that softmax needs exp2 only.
#pragma once
#include "core/exp2.hpp"
#include "core/pack.hpp"

namespace annulus::ops {

inline constexpr double log2_e = 1.4426950408889634074, ln_2 = 0.69314718055994530942;

/// Stands for minus infinity where infinities would have to be subtracted: below every logit, above -infinity.
template <class A>
inline constexpr A bottom = -Kokkos::Experimental::finite_max_v<A> / 4;

#ifdef KOKKOS_ENABLE_CUDA

template <class A, int N>
KOKKOS_FORCEINLINE_FUNCTION Pack<A, N> larger(Pack<A, N> a, Pack<A, N> b) {
  for (int l = 0; l < N; ++l) a[l] = a[l] > b[l] ? a[l] : b[l];
  return a;
}

/// The logit where begin <= at < end, -infinity elsewhere.
template <class A, int N>
KOKKOS_FORCEINLINE_FUNCTION Pack<A, N> seen(Pack<A, N> logit, Pack<A, N> begin, Pack<A, N> at, Pack<A, N> end) {
  for (int l = 0; l < N; ++l)
    if (!(begin[l] <= at[l] && at[l] < end[l])) logit[l] = -Kokkos::Experimental::infinity_v<A>;
  return logit;
}

#else

template <class P>
KOKKOS_FORCEINLINE_FUNCTION P larger(P a, P b) {
  return a > b ? a : b;
}

template <class P>
KOKKOS_FORCEINLINE_FUNCTION P seen(P logit, P begin, P at, P end) {
  return (begin <= at) & (at < end) ? logit : P{} - Kokkos::Experimental::infinity_v<std::decay_t<decltype(logit[0])> >;
}

#endif

}  // namespace annulus::ops
