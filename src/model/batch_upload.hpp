/// Micro-batches on their way to the device: packed into one block of pinned memory, moved by one copy on
/// Streams::copy(), which compute() waits for. On a GPU there are two blocks on either side, so that a batch is packed
/// and moved while the one before it is in use. A host has one, and packs it in place.
#pragma once
#include <array>

#include "core/events.hpp"
#include "core/streams.hpp"
#include "core/views.hpp"
#include "cp/local_batch.hpp"

namespace annulus::model {

/// A micro-batch's part of this rank in the memory of Exec.
struct DeviceBatch {
  index_t rows = 0, tokens_per_row = 0;
  Vector<const std::int32_t> tokens, labels;
  Vector<const index_t> positions, visible_begin, visible_end;
  index_t size() const { return rows * tokens_per_row; }
};

class BatchUpload {
 public:
  static constexpr int blocks = on_gpu ? 2 : 1;
  /// tokens | labels | positions | visible_begin | visible_end of at most so many tokens.
  static index_t block_bytes(index_t tokens);

  /// device, pinned: blocks of block_bytes(tokens) each, one after another; hosts take `device` alone. `device` may
  /// still be written by what compute() was given.
  BatchUpload(const Streams& streams, std::byte* device, std::byte* pinned, index_t tokens);

  /// Readable by what compute() is given until the next call. `batch` is the caller's again when it returns. Blocks
  /// only where the last copy but one is not done.
  DeviceBatch next(const cp::LocalBatch& batch);

 private:
  struct Block {
    std::byte *device, *packed;
    Event arrived;  ///< on the device: `packed` may be written
    Event used;     ///< by all its readers: `device` may be written
  };
  void move(Block& block, index_t bytes);

  const Streams& streams_;
  std::array<Block, blocks> blocks_;
  int current_ = 0;
};

}  // namespace annulus::model
