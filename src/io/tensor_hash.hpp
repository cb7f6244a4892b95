/// A hash of a tensor that is a sum over its elements, so that ranks can form it in parts, in any order, on any mesh:
///   hash = sum over i of mix64(mix64(i + 0x9e3779b97f4a7c15) + bits_i)  mod 2^64
/// with i the element's row-major index and bits_i its bits as an unsigned integer; mix64 is the finaliser of
/// SplitMix64 (Steele et al. 2014).
#pragma once
#include <cstddef>
#include <span>

#include "core/types.hpp"

namespace annulus::io {

constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The share of the elements first, first + 1, ... of a tensor, which lie in `values`.
std::uint64_t hash_of(std::span<const std::byte> values, Scalar type, index_t first);

}  // namespace annulus::io
