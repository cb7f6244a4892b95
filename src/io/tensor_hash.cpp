#include "io/tensor_hash.hpp"

#include <cstring>

namespace annulus::io {

namespace {

template <class Bits>
std::uint64_t sum(std::span<const std::byte> values, index_t first) {
  std::uint64_t sum = 0;
  const std::size_t count = values.size() / sizeof(Bits);
  for (std::size_t n = 0; n < count; ++n) {
    Bits bits;
    std::memcpy(&bits, values.data() + n * sizeof bits, sizeof bits);
    sum += mix64(mix64(static_cast<std::uint64_t>(first) + n + 0x9e3779b97f4a7c15u) + bits);
  }
  return sum;
}

}  // namespace

std::uint64_t hash_of(std::span<const std::byte> values, Scalar type, index_t first) {
  switch (size_of(type)) {
    case 2:
      return sum<std::uint16_t>(values, first);
    case 4:
      return sum<std::uint32_t>(values, first);
    default:
      return sum<std::uint64_t>(values, first);
  }
}

}  // namespace annulus::io
