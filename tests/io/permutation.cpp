#include "io/permutation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>
#include <vector>

using namespace annulus;
using annulus::io::permuted;

TEST_CASE("permutation: every place exactly once, whatever the size", "[io]") {
  for (index_t n = 1; n <= 300; ++n) {
    std::vector<int> hits(n, 0);
    for (index_t i = 0; i < n; ++i) {
      const index_t place = permuted(i, n, 7, 3);
      REQUIRE((0 <= place && place < n));
      ++hits[place];
    }
    CHECK(hits == std::vector<int>(n, 1));
  }
}

TEST_CASE("permutation: no two elements of a huge set share a place", "[io]") {
  const index_t n = (index_t{1} << 61) - 3;
  std::set<index_t> places;
  for (index_t i = 0; i < 1000; ++i) places.insert(permuted(n - 1 - i, n, 1, 0));
  CHECK(places.size() == 1000);
  CHECK((*places.begin() >= 0 && *places.rbegin() < n));
}

TEST_CASE("permutation: seeds and epochs give unrelated orders", "[io]") {
  // Two random orders of n agree in about Poisson(1) places; 12 or more has probability 1e-10.
  const index_t n = 1009;
  const auto agreements = [&](std::uint64_t seed, index_t epoch) {
    int count = 0;
    for (index_t i = 0; i < n; ++i) count += permuted(i, n, 5, 2) == permuted(i, n, seed, epoch);
    return count;
  };
  CHECK(agreements(5, 2) == n);
  for (std::uint64_t seed : {0ull, 4ull, 6ull, 5ull << 32, 5ull | 1ull << 63}) CHECK(agreements(seed, 2) < 12);
  for (index_t epoch : {0, 1, 3, 1000}) CHECK(agreements(5, epoch) < 12);
}

TEST_CASE("permutation: neighbours are spread over the whole", "[io]") {
  // Of 4096 places in 16 equal parts, 256 successive elements put 16 +- 4 in each; six deviations are allowed.
  const index_t n = 4096;
  for (index_t first = 0; first < n; first += 256) {
    std::vector<int> parts(16, 0);
    for (index_t i = first; i < first + 256; ++i) ++parts[permuted(i, n, 11, 0) / 256];
    for (const int count : parts) CHECK(std::abs(count - 16) <= 24);
  }
}
