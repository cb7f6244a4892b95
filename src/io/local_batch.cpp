#include <algorithm>
#include <cassert>

#include "io/loader.hpp"

namespace annulus::io {

namespace {

/// What a rank sees of one row, appended to `batch`.
void append(cp::LocalBatch& batch, const Sample& row, const RowRules& rules, const cp::SequenceLayout& layout,
            int rank) {
  const std::vector<index_t>& begins = row.document_begins;
  const index_t length = layout.length();
  assert(index_t(row.tokens.size()) == length + 1);
  assert(!begins.empty() && begins.front() == 0 && std::is_sorted(begins.begin(), begins.end()));
  for (const cp::Segment& segment : layout.segments(rank))
    for (index_t order = segment.begin; order < segment.begin + segment.count; ++order) {
      const auto after = std::upper_bound(begins.begin(), begins.end(), order);  // the next document
      const index_t document = *std::prev(after);
      const index_t end = after == begins.end() ? length : std::min(*after, length);
      const bool last = after != begins.end() && *after == order + 1;
      batch.tokens.push_back(row.tokens[order]);
      batch.labels.push_back(last ? ignored_label : row.tokens[order + 1]);
      batch.positions.push_back(rules.restart_positions ? order - document : order);
      batch.visible_begin.push_back(rules.window > 0 ? std::max(document, order - rules.window + 1) : document);
      batch.visible_end.push_back(rules.causal ? order + 1 : end);
    }
}

}  // namespace

cp::LocalBatch local_batch(std::span<const Sample> rows, const RowRules& rules, const cp::SequenceLayout& layout,
                           int rank) {
  cp::LocalBatch batch;
  batch.rows = static_cast<index_t>(rows.size());
  batch.tokens_per_row = layout.count(rank);
  for (const Sample& row : rows) append(batch, row, rules, layout, rank);
  return batch;
}

}  // namespace annulus::io
