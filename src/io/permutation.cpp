#include "io/permutation.hpp"

#include <bit>
#include <cassert>

#include "core/rng.hpp"

namespace annulus::io {

index_t permuted(index_t i, index_t n, std::uint64_t seed, index_t epoch) {
  assert(0 <= i && i < n && n < index_t{1} << 62);
  constexpr int rounds = 6;
  const int half = (static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1))) + 1) /
                   2;  // bits of each side; 0 where n is 1
  const std::uint32_t mask = static_cast<std::uint32_t>((std::uint64_t{1} << half) - 1);
  auto word = static_cast<std::uint64_t>(i);
  do {
    auto left = static_cast<std::uint32_t>(word >> half), right = static_cast<std::uint32_t>(word) & mask;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const auto scrambled =
          philox({right, static_cast<std::uint32_t>(epoch), round, static_cast<std::uint32_t>(Draw::shuffle)},
                 {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)})[0];
      const std::uint32_t next = left ^ (scrambled & mask);
      left = right;
      right = next;
    }
    word = std::uint64_t{left} << half | right;
  } while (word >= static_cast<std::uint64_t>(n));
  return static_cast<index_t>(word);
}

}  // namespace annulus::io
