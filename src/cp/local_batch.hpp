/// What one rank sees of one micro-batch: `rows` sequences, of each the tokens that the layout gives this rank.
/// Labels are shifted before the split, so that no label crosses a rank's edge wrongly. Two ideas of position are kept
/// apart: `order` (a token's place in its row, which the mask compares) follows from the layout; `positions` (what RoPE
/// rotates by) may restart at each document.
#pragma once
#include <vector>

#include "core/types.hpp"

namespace annulus::cp {

struct LocalBatch {
  index_t rows = 0;
  index_t tokens_per_row = 0;          ///< on this rank; may be 0
  std::vector<std::int32_t> tokens;    ///< (rows, tokens_per_row)
  std::vector<std::int32_t> labels;    ///< (rows, tokens_per_row); ignored_label where there is nothing to predict
  std::vector<index_t> positions;      ///< (rows, tokens_per_row) RoPE positions
  std::vector<index_t> visible_begin;  ///< (rows, tokens_per_row) a query sees the keys of its row with
  std::vector<index_t> visible_end;    ///<   visible_begin <= order < visible_end: mask, documents and window in one
};

}  // namespace annulus::cp
