#include "cp/sequence_layout.hpp"

#include <algorithm>
#include <cassert>

#include "core/error.hpp"
#include "core/text.hpp"

namespace annulus::cp {

namespace {

/// Chunk c of `chunks` equal ones. The first length % chunks are one token longer, so that the two chunks that zigzag
/// gives a rank differ between ranks by one token together, not by one each.
Segment chunk(index_t length, int chunks, int c) {
  const index_t shortest = length / chunks, longer = length % chunks;
  return {c * shortest + std::min<index_t>(c, longer), shortest + (c < longer ? 1 : 0)};
}

/// Empty chunks leave no segment, and chunks that touch are one: fewer edges that attention's tiles must not cross.
void append(std::vector<Segment>& segments, Segment next) {
  if (next.count == 0) return;
  if (!segments.empty() && segments.back().begin + segments.back().count == next.begin)
    segments.back().count += next.count;
  else
    segments.push_back(next);
}

}  // namespace

SequenceLayout::SequenceLayout(index_t length, std::vector<std::vector<Segment>> segments)
    : length_(length), segments_(std::move(segments)) {
  for ([[maybe_unused]] const auto& held : segments_) assert(held.size() <= most_segments);
}

SequenceLayout SequenceLayout::contiguous(index_t length, int ranks) {
  assert(length >= 0 && ranks >= 1);
  std::vector<std::vector<Segment>> segments(ranks);
  for (int r = 0; r < ranks; ++r) append(segments[r], chunk(length, ranks, r));
  return {length, std::move(segments)};
}

SequenceLayout SequenceLayout::zigzag(index_t length, int ranks) {
  assert(length >= 0 && ranks >= 1);
  std::vector<std::vector<Segment>> segments(ranks);
  for (int r = 0; r < ranks; ++r)
    for (const int c : {r, 2 * ranks - 1 - r}) append(segments[r], chunk(length, 2 * ranks, c));
  return {length, std::move(segments)};
}

SequenceLayout SequenceLayout::named(const std::string& name, index_t length, int ranks) {
  if (name == "contiguous") return contiguous(length, ranks);
  if (name == "zigzag") return zigzag(length, ranks);
  throw Refused(text("attention.layout = \"", name, "\" is not known; \"contiguous\" and \"zigzag\" are"));
}

index_t SequenceLayout::count(int rank) const {
  index_t sum = 0;
  for (const Segment& segment : segments_[rank]) sum += segment.count;
  return sum;
}

index_t SequenceLayout::max_count() const {
  index_t most = 0;
  for (int r = 0; r < ranks(); ++r) most = std::max(most, count(r));
  return most;
}

index_t SequenceLayout::global(int rank, index_t local) const {
  for (const Segment& segment : segments_[rank]) {
    if (local < segment.count) return segment.begin + local;
    local -= segment.count;
  }
  assert(false && "a rank has no such token");
  return length_;
}

}  // namespace annulus::cp
