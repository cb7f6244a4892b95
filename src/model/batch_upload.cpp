#include "model/batch_upload.hpp"

#include <cassert>
#include <cstring>

#include "core/start_copy.hpp"

namespace annulus::model {

namespace {

/// Where the parts of a packed batch lie.
struct Parts {
  index_t tokens, labels, positions, visible_begin, visible_end, end;
  explicit Parts(index_t size) {
    const index_t ids = size * index_t(sizeof(std::int32_t)), places = size * index_t(sizeof(index_t));
    tokens = 0;
    labels = tokens + ids;
    positions = labels + ids;  // a multiple of 8 bytes
    visible_begin = positions + places;
    visible_end = visible_begin + places;
    end = visible_end + places;
  }
};

template <class V>
void pack(const std::vector<V>& values, index_t size, std::byte* to) {
  assert(index_t(values.size()) == size);
  if (size > 0) std::memcpy(to, values.data(), values.size() * sizeof(V));
}

template <class V>
Vector<const V> part(const std::byte* from, index_t size) {
  return Vector<const V>(reinterpret_cast<const V*>(from), size);
}

}  // namespace

index_t BatchUpload::block_bytes(index_t tokens) {
  constexpr index_t alignment = 256;
  return (Parts(tokens).end + alignment - 1) / alignment * alignment;
}

BatchUpload::BatchUpload(const Streams& streams, std::byte* device, std::byte* pinned, index_t tokens)
    : streams_(streams) {
  for (int n = 0; n < blocks; ++n) {
    blocks_[n].device = device + n * block_bytes(tokens);
    blocks_[n].packed = on_gpu ? pinned + n * block_bytes(tokens) : blocks_[n].device;
    blocks_[n].used.record(streams.compute());
  }
}

DeviceBatch BatchUpload::next(const cp::LocalBatch& batch) {
  blocks_[current_].used.record(streams_.compute());
  current_ = (current_ + 1) % blocks;
  Block& block = blocks_[current_];

  const index_t size = batch.rows * batch.tokens_per_row;
  const Parts at(size);
  block.arrived.block();
  pack(batch.tokens, size, block.packed + at.tokens);
  pack(batch.labels, size, block.packed + at.labels);
  pack(batch.positions, size, block.packed + at.positions);
  pack(batch.visible_begin, size, block.packed + at.visible_begin);
  pack(batch.visible_end, size, block.packed + at.visible_end);
  if (block.packed != block.device) move(block, at.end);

  return {.rows = batch.rows,
          .tokens_per_row = batch.tokens_per_row,
          .tokens = part<std::int32_t>(block.device + at.tokens, size),
          .labels = part<std::int32_t>(block.device + at.labels, size),
          .positions = part<index_t>(block.device + at.positions, size),
          .visible_begin = part<index_t>(block.device + at.visible_begin, size),
          .visible_end = part<index_t>(block.device + at.visible_end, size)};
}

void BatchUpload::move(Block& block, index_t bytes) {
  const Exec& copy = streams_.copy();
  block.used.wait(copy);
  start_copy(copy, block.device, block.packed, bytes);
  block.arrived.record(copy);
  block.arrived.wait(streams_.compute());
}

}  // namespace annulus::model
