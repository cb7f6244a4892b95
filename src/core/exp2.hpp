/// 2^x and e^x for single values and packs, on hosts and devices from one polynomial: libm's functions do not
/// vectorise, and each target would round in its own way. Within 1 ulp in fp32 and 2 in fp64, whatever the size of x.
/// Results below the smallest normal number are 0, above the largest infinity; a NaN stays a NaN.
///
/// x = n + f with |f| <= 1/2, and 2^f = 1 + f q(f), q minimax in the relative error (Remez): 2.6e-9 for fp32, 1.8e-17
/// for fp64. n is added to the exponent's bits.
#pragma once
#include <limits>

#include "core/pack.hpp"

namespace annulus {

namespace detail {

/// A number whose lowest bits count ones: adding it rounds to an integer and leaves that in the lowest bits.
template <class A>
inline constexpr A ones = std::is_same_v<A, float> ? A(0x1.8p23) : A(0x1.8p52);
template <class A>
inline constexpr A log2_of_e = A(1.44269504088896340736);

/// 2^(n + f), where shifted = n + ones; x is n + f as closely as its range must be known.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V two_to(V x, V shifted, V f) {
  using A = decltype(first_lane(V{}));
  V q;
  if constexpr (std::is_same_v<A, float>) {
    constexpr A c[] = {0x1.62e432p-1f, 0x1.ebfbe2p-3f, 0x1.c6ae72p-5f, 0x1.3b270ep-7f, 0x1.5f7278p-10f, 0x1.470b5p-13f};
    q = f * c[5] + c[4];
    for (int i = 3; i >= 0; --i) q = q * f + c[i];
  } else {
    constexpr A c[] = {0x1.62e42fefa39f3p-1,  0x1.ebfbdff82c598p-3,  0x1.c6b08d7048f31p-5,  0x1.3b2ab6fba1e1cp-7,
                       0x1.5d87fe7bbbdaap-10, 0x1.4309130961342p-13, 0x1.ffcbee3b244eep-17, 0x1.62bfd49e6cb20p-20,
                       0x1.b541676c00885p-24, 0x1.e605fa3e4b8ebp-28, 0x1.c063d7382cc2dp-32};
    q = f * c[10] + c[9];
    for (int i = 8; i >= 0; --i) q = q * f + c[i];
  }
  const V fraction = q * f + A(1);

  constexpr bool fp32 = std::is_same_v<A, float>;
  using Bits = std::conditional_t<fp32, std::uint32_t, std::uint64_t>;
  constexpr int mantissa = fp32 ? 23 : 52;
  constexpr A least = fp32 ? A(-126) : A(-1022), most = fp32 ? A(128) : A(1024);
  V power;
  if constexpr (std::is_arithmetic_v<V>) {
    power = Kokkos::bit_cast<A>(Kokkos::bit_cast<Bits>(fraction) + (Kokkos::bit_cast<Bits>(shifted) << mantissa));
  }
#ifndef KOKKOS_ENABLE_CUDA
  else {
    using Words [[gnu::vector_size(sizeof(V))]] = Bits;
    power = Kokkos::bit_cast<V>(Kokkos::bit_cast<Words>(fraction) + (Kokkos::bit_cast<Words>(shifted) << mantissa));
  }
#endif
  const V bounded = x < most ? power : x + Kokkos::Experimental::infinity_v<A>;  // a NaN goes here too
  return x < least ? V{} : bounded;
}

}  // namespace detail

template <class V>
KOKKOS_FORCEINLINE_FUNCTION V exp2(V x) {
  using A = decltype(first_lane(V{}));
  const V shifted = x + detail::ones<A>;
  return detail::two_to(x, shifted, x - (shifted - detail::ones<A>));
}

template <class V>
KOKKOS_FORCEINLINE_FUNCTION V exp(V x) {
  using A = decltype(first_lane(V{}));
  // ln 2 in two parts, the first so short that its products with n are exact (Cody & Waite 1980)
  constexpr bool fp32 = std::is_same_v<A, float>;
  constexpr A upper = fp32 ? A(0x1.62e4p-1) : A(0x1.62e42fefap-1);
  constexpr A lower = fp32 ? A(0x1.7f7d1cp-20) : A(0x1.cf79abc9e3b3ap-40);
  const V powers = x * detail::log2_of_e<A>, shifted = powers + detail::ones<A>, n = shifted - detail::ones<A>;
  return detail::two_to(powers, shifted, ((x - n * upper) - n * lower) * detail::log2_of_e<A>);
}

#ifdef KOKKOS_ENABLE_CUDA
template <class A, int N>
KOKKOS_FORCEINLINE_FUNCTION Pack<A, N> exp2(Pack<A, N> x) {
  for (int l = 0; l < N; ++l) x[l] = exp2(x[l]);
  return x;
}
template <class A, int N>
KOKKOS_FORCEINLINE_FUNCTION Pack<A, N> exp(Pack<A, N> x) {
  for (int l = 0; l < N; ++l) x[l] = exp(x[l]);
  return x;
}
#endif

}  // namespace annulus
