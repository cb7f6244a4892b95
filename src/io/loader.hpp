/// Where training sequences come from. sample(g) is a pure function of (seed, g): no state is kept, the stream is the
/// same for every mesh, and resuming needs one integer. All ranks that share a sequence ask for the same g.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/types.hpp"
#include "cp/local_batch.hpp"
#include "cp/sequence_layout.hpp"
#include "io/keys.hpp"

namespace annulus::io {

/// One row, whole: T + 1 tokens in global order, and where documents begin.
struct Sample {
  std::vector<std::int32_t> tokens;  ///< (T + 1): the last one is only a label
  std::vector<index_t>
      document_begins;  ///< ascending orders in [0, T], first 0; one entry when documents are not kept apart
};

/// What attention and RoPE make of a row.
struct RowRules {
  bool causal = true;
  index_t window = 0;
  bool restart_positions = false;
};

class Loader {
 public:
  virtual ~Loader() = default;
  virtual index_t sequence_length() const = 0;
  /// Ids lie below this.
  virtual index_t vocabulary() const = 0;
  /// Different samples that there are; sample(g) wraps around after them, reshuffled.
  virtual index_t samples_per_epoch() const = 0;
  virtual Sample sample(index_t g) const = 0;
  /// Labels of sample g that count in the loss, over the whole row.
  virtual index_t valid_tokens(index_t g) const = 0;
  /// What a rank sees of samples first .. first + rows - 1: labels shifted before the split, a document's last token
  /// without label, positions and visibility by global order.
  virtual cp::LocalBatch batch(index_t first, index_t rows, const cp::SequenceLayout& layout, int rank) const = 0;
  /// Changes when the data change: part of a checkpoint.
  virtual std::string fingerprint() const = 0;
};

/// Splits whole rows for a rank; what every loader's batch() does.
cp::LocalBatch local_batch(std::span<const Sample> rows, const RowRules& rules, const cp::SequenceLayout& layout,
                           int rank);

/// Over token shards. `shuffle` false (validation): sample g is window g. Throws Refused (missing or truncated shard,
/// an id at or above the vocabulary, too few tokens for one window), naming the file.
std::unique_ptr<Loader> shard_loader(const std::string& path, const char* split, const DataKeys& keys,
                                     const RowRules& rules, std::uint64_t seed, bool shuffle);

}  // namespace annulus::io
