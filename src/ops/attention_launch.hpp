/// What the kernels of all attention implementations are given. Kokkos passes kernels above 512 bytes, its own part
/// included, through one constant buffer that it waits for, and two full `Stretches` with seven `Heads` are larger:
/// so a launch covers one stretch of the side that it divides among workers, and operands travel with 32-bit strides.
#pragma once
#include <cassert>
#include <cstdint>

#include "ops/attention.hpp"

namespace annulus::ops {

inline constexpr std::size_t largest_kernel = 336;

/// Heads, compact.
template <class T>
struct HeadRows {
  T* data;
  std::int32_t token_stride, head_stride;

  template <class U>
  HeadRows(const Heads<U>& heads)
      : data(heads.data),
        token_stride(static_cast<std::int32_t>(heads.token_stride)),
        head_stride(static_cast<std::int32_t>(heads.head_stride)) {
    assert(token_stride == heads.token_stride && head_stride == heads.head_stride);
  }
  KOKKOS_FORCEINLINE_FUNCTION T* at(index_t token, int head) const {
    return data + token * token_stride + index_t(head) * head_stride;
  }
};

/// One stretch, and the index of its first token in memory.
struct OwnStretch {
  index_t first, order, count;
};

/// launch(stretch) for each that is not empty.
template <class Launch>
void for_each_stretch(const Stretches& stretches, const Launch& launch) {
  assert(stretches.size >= 0 && stretches.size <= Stretches::most);
  index_t first = 0;
  for (int s = 0; s < stretches.size; ++s) {
    const auto [order, count] = stretches.stretch[s];
    assert(count >= 0);
    if (count > 0) launch(OwnStretch{first, order, count});
    first += count;
  }
}

/// The orders of keys that each query sees.
struct Visible {
  const index_t *begin, *end;
};

/// The part of `count` tokens from `order` on that lies before `bound`.
KOKKOS_FORCEINLINE_FUNCTION index_t tokens_before(index_t bound, index_t order, index_t count) {
  return Kokkos::max(index_t(0), Kokkos::min(bound - order, count));
}

inline void check(const AttentionShape& shape) {
  assert(shape.kv_heads > 0 && shape.q_heads % shape.kv_heads == 0);
  assert(shape.head_dim > 0 && shape.head_dim <= 256);
  (void)shape;
}

}  // namespace annulus::ops
