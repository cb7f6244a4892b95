/// The small vocabulary that every room shares, without Kokkos.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace annulus {

/// Extents, ids and offsets: long contexts pass 2^31 elements.
using index_t = std::int64_t;

/// What becomes of the values that an output holds already.
enum class Into { overwrite, add };

/// Element types as they lie in memory and in files.
enum class Scalar { bf16, fp32, fp64, int32, int64 };

constexpr index_t size_of(Scalar type) {
  switch (type) {
    case Scalar::bf16:
      return 2;
    case Scalar::fp32:
    case Scalar::int32:
      return 4;
    default:
      return 8;
  }
}

constexpr std::string_view name_of(Scalar type) {
  constexpr std::string_view names[] = {"bf16", "fp32", "fp64", "int32", "int64"};
  return names[static_cast<int>(type)];
}

/// A label that the loss leaves out: padding, or the last token of a document.
inline constexpr std::int32_t ignored_label = -1;

}  // namespace annulus
