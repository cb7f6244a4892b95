/// How sums over ranks divide among the ranks that take them.
#pragma once
#include <algorithm>

#include "core/types.hpp"

namespace annulus::comm {

/// One part for each rank; how `count` values divide among them.
struct Parts {
  index_t count;
  int ranks;
  index_t begin(int r) const { return count / ranks * r + std::min<index_t>(r, count % ranks); }
  index_t size(int r) const { return begin(r + 1) - begin(r); }
};

}  // namespace annulus::comm
