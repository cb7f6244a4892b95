#include "comm/reduction.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

using namespace annulus;
using comm::reduce_in_order;
using comm::Reduction;

TEST_CASE("reduction: sums in the order of the terms", "[comm]") {
  const float large = 1e8f, one = 1, minus_large = -1e8f;
  float out;
  reduce_in_order(Scalar::fp32, Reduction::sum, {&large, &minus_large, &one}, &out, 1);
  CHECK(out == 1);
  reduce_in_order(Scalar::fp32, Reduction::sum, {&one, &large, &minus_large}, &out, 1);
  CHECK(out == 0);
}

TEST_CASE("reduction: bf16 is rounded once, at the end, to nearest even", "[comm]") {
  const std::uint16_t one = 0x3f80, eighth = 0x3b00;  // 1 and 2^-9, an eighth of what bf16 resolves above 2^-6 at 1
  std::uint16_t out;
  reduce_in_order(Scalar::bf16, Reduction::sum, {&one, &eighth, &eighth, &eighth}, &out, 1);
  CHECK(out == 0x3f81);  // 1 + 3 x 2^-9 is nearer to 1 + 2^-7; rounded after each term it would stay 1
  reduce_in_order(Scalar::bf16, Reduction::sum, {&one, &eighth, &eighth}, &out, 1);
  CHECK(out == 0x3f80);  // a tie
}

TEST_CASE("reduction: a NaN of any rank is the sum and the maximum", "[comm]") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), one = 1;
  for (const Reduction reduction : {Reduction::sum, Reduction::max})
    for (const auto& terms : {std::vector<const void*>{&nan, &one}, {&one, &nan}, {&one, &nan, &one}}) {
      double out = 0;
      reduce_in_order(Scalar::fp64, reduction, terms, &out, 1);
      CHECK(std::isnan(out));
    }
  const std::uint16_t bf16_nan = 0x7f81, bf16_one = 0x3f80;  // rounding must not carry it into infinity
  std::uint16_t out;
  reduce_in_order(Scalar::bf16, Reduction::max, {&bf16_one, &bf16_nan}, &out, 1);
  CHECK((out & 0x7fff) > 0x7f80);
}

TEST_CASE("reduction: int64 is exact, and the result may lie in a term", "[comm]") {
  std::vector<index_t> a(2500), b(2500);  // three blocks
  for (index_t i = 0; i < 2500; ++i) a[i] = (index_t(1) << 62) - i, b[i] = -(index_t(1) << 61) + 3 * i;
  reduce_in_order(Scalar::int64, Reduction::sum, {a.data(), b.data()}, b.data(), 2500);
  for (index_t i = 0; i < 2500; ++i)
    if (b[i] != (index_t(1) << 61) + 2 * i) FAIL("at " << i);
}
