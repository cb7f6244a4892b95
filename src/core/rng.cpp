#include "core/rng.hpp"

#include <cmath>
#include <numbers>

namespace annulus {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53u} * c[0], second = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(second >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(second),
         static_cast<std::uint32_t>(first >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(first)};
    key[0] += 0x9E3779B9u;  // golden ratio
    key[1] += 0xBB67AE85u;  // sqrt(3) - 1
  }
  return c;
}

namespace {

struct Pair {
  std::uint64_t first, second;
};

Pair words(std::uint64_t seed, Draw draw, std::uint32_t stream, std::uint64_t index) {
  const auto w = philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), stream,
                         static_cast<std::uint32_t>(draw)},
                        {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return {std::uint64_t{w[1]} << 32 | w[0], std::uint64_t{w[3]} << 32 | w[2]};
}

double unit_interval(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

}  // namespace

double uniform(std::uint64_t seed, Draw draw, std::uint32_t stream, std::uint64_t index) {
  return unit_interval(words(seed, draw, stream, index).first);
}

double normal(std::uint64_t seed, Draw draw, std::uint32_t stream, std::uint64_t index) {
  const Pair word = words(seed, draw, stream, index);
  const double radius = std::sqrt(-2 * std::log1p(-unit_interval(word.first)));  // 1 - u is never 0
  return radius * std::cos(2 * std::numbers::pi * unit_interval(word.second));
}

}  // namespace annulus
