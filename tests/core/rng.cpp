#include "core/rng.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

using namespace annulus;

TEST_CASE("rng: Philox 4x32-10 gives its published answers", "[core]") {
  // the known-answer file of Random123 (Salmon et al. 2011)
  CHECK(philox({0, 0, 0, 0}, {0, 0}) ==
        std::array<std::uint32_t, 4>{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
  CHECK(philox({0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}, {0xffffffffu, 0xffffffffu}) ==
        std::array<std::uint32_t, 4>{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
  CHECK(philox({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}) ==
        std::array<std::uint32_t, 4>{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});
}

TEST_CASE("rng: uniform and normal numbers have their moments", "[core]") {
  constexpr int count = 100000;
  double sum = 0, squares = 0, mean = 0, variance = 0, fourth = 0;
  for (int i = 0; i < count; ++i) {
    const double u = uniform(7, Draw::test, 3, i), n = normal(7, Draw::test, 4, i);
    REQUIRE((u >= 0 && u < 1));
    sum += u;
    squares += u * u;
    mean += n;
    variance += n * n;
    fourth += n * n * n * n;
  }
  // four standard errors of each moment
  const double error = 4 / std::sqrt(double(count));
  CHECK(std::abs(sum / count - 0.5) < error * std::sqrt(1.0 / 12));
  CHECK(std::abs(squares / count - 1.0 / 3) < error * std::sqrt(4.0 / 45));
  CHECK(std::abs(mean / count) < error);
  CHECK(std::abs(variance / count - 1) < error * std::sqrt(2.0));
  CHECK(std::abs(fourth / count - 3) < error * std::sqrt(96.0));
}

TEST_CASE("rng: seed, use, stream and index each give other numbers", "[core]") {
  const double here = uniform(1, Draw::test, 1, 1);
  CHECK(here == uniform(1, Draw::test, 1, 1));
  CHECK(here != uniform(2, Draw::test, 1, 1));
  CHECK(here != uniform(1ull << 32 | 1, Draw::test, 1, 1));
  CHECK(here != uniform(1, Draw::shuffle, 1, 1));
  CHECK(here != uniform(1, Draw::test, 2, 1));
  CHECK(here != uniform(1, Draw::test, 1, 2));
  CHECK(here != uniform(1, Draw::test, 1, 1ull << 32 | 1));
}
