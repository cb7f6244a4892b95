#include "core/exp2.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cmath>

#include "core/lanes.hpp"
#include "support/views.hpp"

using namespace annulus;
using namespace annulus::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Found {
  Numbers powers, exponentials;  // 2^x, e^x
};

/// On the device, in packs of N; N = 1: single values, not packs of one.
template <class A, int N>
Found computed(const Numbers& x) {
  const auto in = upload<A>(x);
  const auto powers = poisoned<A>(x.size()), exponentials = poisoned<A>(x.size());
  Kokkos::parallel_for(
      "test", Kokkos::RangePolicy<Exec>(0, x.size() / N), KOKKOS_LAMBDA(index_t p) {
        const A* from = in.data();
        A *to_powers = powers.data(), *to_exponentials = exponentials.data();
        if constexpr (N == 1) {
          to_powers[p] = annulus::exp2(from[p]);
          to_exponentials[p] = annulus::exp(from[p]);
        } else {
          const Lanes<N> at{p * N};
          store(to_powers, at, annulus::exp2(load(from, at)));
          store(to_exponentials, at, annulus::exp(load(from, at)));
        }
      });
  Kokkos::fence();
  return {download(powers), download(exponentials)};
}

/// Largest distance from the exact value, in units of the last place of A.
template <class A>
double ulps(const Numbers& x, const Numbers& found, long double (*function)(long double)) {
  double most = 0;
  for (std::size_t n = 0; n < x.size(); ++n) {
    const long double exact = function(static_cast<A>(x[n]));
    const long double ulp = std::ldexp(1.0L, std::ilogb(exact) + 1 - std::numeric_limits<A>::digits);
    const double apart = static_cast<double>(std::abs(found[n] - exact) / ulp);
    most = apart <= most ? most : apart;  // a NaN stays
  }
  return most;
}

}  // namespace

TEMPLATE_TEST_CASE("exp2: within 2 ulp of 2^x and e^x over the whole range, in packs and alone", "[core]", float,
                   double) {
  using A = TestType;
  constexpr index_t count = 1 << 16;
  const double range = std::is_same_v<A, float> ? 126 : 1022;
  for (const double reach : {range, 1.0, 1e-3}) {
    Numbers x(count), shorter(count);  // e^x has the range of 2^x at 0.69 x
    for (index_t n = 0; n < count; ++n) x[n] = reach * (2.0 * n / count - 1), shorter[n] = 0.69 * x[n];
    CHECK(ulps<A>(x, computed<A, 1>(x).powers, std::exp2) <= 2);
    CHECK(ulps<A>(x, computed<A, pack_size<A>>(x).powers, std::exp2) <= 2);
    CHECK(ulps<A>(shorter, computed<A, 1>(shorter).exponentials, std::exp) <= 2);
    CHECK(ulps<A>(shorter, computed<A, pack_size<A>>(shorter).exponentials, std::exp) <= 2);
  }
}

TEMPLATE_TEST_CASE("exp2: exact at integers, 0 below the range, infinite above it, NaN for NaN", "[core]", float,
                   double) {
  using A = TestType;
  const double least = std::is_same_v<A, float> ? -126 : -1022, beyond = std::is_same_v<A, float> ? 128 : 1024;
  const Numbers x{0,          -0.0,  1,         -1,     10,   least, beyond - 1, least - 1,
                  least - 60, -1e30, -infinity, beyond, 1e30, 3e38,  infinity,   0};
  const Numbers powers{1,        1, 2, 0.5, 1024,     std::exp2(least), std::exp2(beyond - 1),
                       0,        0, 0, 0,   infinity, infinity,         infinity,
                       infinity, 1};
  CHECK(computed<A, 1>(x).powers == powers);
  CHECK(computed<A, pack_size<A>>(x).powers == powers);
  const Numbers far{-infinity, -1e30, -1100, 0, 1100, 1e30, 3e38, infinity, 0, 0, 0, 0, 0, 0, 0, 0};
  const Numbers exponentials{0, 0, 0, 1, infinity, infinity, infinity, infinity, 1, 1, 1, 1, 1, 1, 1, 1};
  CHECK(computed<A, 1>(far).exponentials == exponentials);
  CHECK(computed<A, pack_size<A>>(far).exponentials == exponentials);

  // Memory whose every bit is set is a NaN too, and must not turn into a number.
  using Bits = std::conditional_t<std::is_same_v<A, float>, std::uint32_t, std::uint64_t>;
  const A not_numbers[] = {std::numeric_limits<A>::quiet_NaN(), Kokkos::bit_cast<A>(~Bits(0))};
  for (const A nan : not_numbers) {
    CHECK(std::isnan(annulus::exp2(nan)));
    CHECK(std::isnan(annulus::exp(nan)));
    CHECK(std::isnan(annulus::exp2(Pack<A, 8>{} + nan)[3]));
  }
}
