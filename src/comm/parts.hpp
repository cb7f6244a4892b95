/// How `count` values divide among ranks.
#pragma once
#include <algorithm>

#include "core/types.hpp"

namespace annulus::comm {

struct Parts {
  index_t count;
  int ranks;
  index_t begin(int r) const { return count / ranks * r + std::min<index_t>(r, count % ranks); }
  index_t size(int r) const { return begin(r + 1) - begin(r); }
  /// Of part r, the values in slice s of slices of `slice` values.
  index_t slice_size(int r, index_t s, index_t slice) const {
    return std::clamp<index_t>(size(r) - s * slice, 0, slice);
  }
};

}  // namespace annulus::comm
