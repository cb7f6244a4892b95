#include "comm/reduction.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace annulus::comm {

namespace {

/// core/bf16.hpp for files that do not see Kokkos.
struct Bf16 {
  std::uint16_t bits;
  operator float() const { return std::bit_cast<float>(std::uint32_t(bits) << 16); }
  explicit Bf16(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    bits =
        static_cast<std::uint16_t>((value != value ? word | 0x00400000u : word + 0x7fffu + ((word >> 16) & 1)) >> 16);
  }
};

template <class Carried, class Stored>
void reduce(Reduction reduction, const std::vector<const void*>& terms, void* out, index_t count) {
  constexpr index_t block = 1024;
  Carried carried[block];
  for (index_t begin = 0; begin < count; begin += block) {
    const index_t size = std::min(block, count - begin);
    const auto term = [&](std::size_t r) { return static_cast<const Stored*>(terms[r]) + begin; };
    std::copy_n(term(0), size, carried);
    for (std::size_t r = 1; r < terms.size(); ++r) {
      const Stored* const values = term(r);
      if (reduction == Reduction::sum)
        for (index_t i = 0; i < size; ++i) carried[i] += Carried(values[i]);
      else
        for (index_t i = 0; i < size; ++i) {
          const Carried value = values[i];
          carried[i] = value > carried[i] || value != value ? value : carried[i];
        }
    }
    std::transform(carried, carried + size, static_cast<Stored*>(out) + begin, [](Carried c) { return Stored(c); });
  }
}

}  // namespace

void reduce_in_order(Scalar type, Reduction reduction, const std::vector<const void*>& terms, void* out,
                     index_t count) {
  switch (type) {
    case Scalar::bf16:
      return reduce<float, Bf16>(reduction, terms, out, count);
    case Scalar::fp32:
      return reduce<float, float>(reduction, terms, out, count);
    case Scalar::fp64:
      return reduce<double, double>(reduction, terms, out, count);
    case Scalar::int32:
      return reduce<std::int32_t, std::int32_t>(reduction, terms, out, count);
    case Scalar::int64:
      return reduce<std::int64_t, std::int64_t>(reduction, terms, out, count);
  }
}

}  // namespace annulus::comm
