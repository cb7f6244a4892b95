/// Exponentials and masks of packs of logits. Logits are in the unit of log2, so that softmax needs exp2 only.
#pragma once
#include "core/exp2.hpp"
#include "core/pack.hpp"

namespace annulus::ops {

inline constexpr double log2_e = 1.4426950408889634074, ln_2 = 0.69314718055994530942;

/// Stands for minus infinity where infinities would have to be subtracted: below every logit, above -infinity.
template <class A>
inline constexpr A bottom = -Kokkos::Experimental::finite_max_v<A> / 4;
template <class A>
inline constexpr A unseen = -Kokkos::Experimental::infinity_v<A>;

#ifdef KOKKOS_ENABLE_CUDA

/// x where begin <= at < end, `otherwise` elsewhere.
template <class A, int N>
KOKKOS_FORCEINLINE_FUNCTION Pack<A, N> where_seen(Pack<A, N> x, Pack<A, N> begin, Pack<A, N> at, Pack<A, N> end,
                                                  A otherwise) {
  for (int l = 0; l < N; ++l)
    if (!(begin[l] <= at[l] && at[l] < end[l])) x[l] = otherwise;
  return x;
}

#else

template <class P, class A>
KOKKOS_FORCEINLINE_FUNCTION P where_seen(P x, P begin, P at, P end, A otherwise) {
  return (begin <= at) & (at < end) ? x : P{} + otherwise;
}

#endif

}  // namespace annulus::ops
