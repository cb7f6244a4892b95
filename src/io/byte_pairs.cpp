#include "io/byte_pairs.hpp"

#include <algorithm>
#include <bit>
#include <queue>

#include "core/error.hpp"
#include "core/text.hpp"

namespace annulus::io {

namespace {

constexpr std::uint64_t empty = ~std::uint64_t{0};

}  // namespace

std::uint64_t BytePairs::key(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
}

BytePairs::BytePairs(std::span<const std::string> tokens, std::span<const Merge> merges, bool whole_pieces)
    : slots_(std::bit_ceil(2 * merges.size() + 1), Slot{empty, {never, 0}}) {
  byte_ids_.fill(-1);
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const std::string& token = tokens[id];
    if (token.size() == 1) byte_ids_[static_cast<unsigned char>(token[0])] = static_cast<std::int32_t>(id);
    if (whole_pieces && !token.empty()) whole_pieces_.emplace(token, id);
  }
  for (std::size_t byte = 0; byte < byte_ids_.size(); ++byte)
    if (byte_ids_[byte] < 0)
      throw Refused(text("the vocabulary has no token for byte ", byte, "; all 256 bytes must be in it"));
  for (const Merge& merge : merges) {
    const std::uint64_t pair = key(merge.left, merge.right);
    Slot& found = slots_[slot(pair)];
    if (found.pair == pair) throw Refused(text("the merges join tokens ", merge.left, " and ", merge.right, " twice"));
    found = {pair, {merge.rank, merge.merged}};
  }
}

std::size_t BytePairs::slot(std::uint64_t pair) const {
  const std::size_t last = slots_.size() - 1;
  std::uint64_t mixed = pair * 0x9E3779B97F4A7C15u;
  mixed ^= mixed >> 32;
  std::size_t at = mixed & last;
  while (slots_[at].pair != pair && slots_[at].pair != empty) at = (at + 1) & last;
  return at;
}

BytePairs::Result BytePairs::result(std::int32_t left, std::int32_t right) const {
  return slots_[slot(key(left, right))].result;
}

void BytePairs::encode(std::string_view piece, std::vector<std::int32_t>& ids) const {
  if (const auto whole = whole_pieces_.find(piece); whole != whole_pieces_.end()) return ids.push_back(whole->second);
  piece.size() <= short_piece ? encode_short(piece, ids) : encode_long(piece, ids);
}

void BytePairs::encode_short(std::string_view piece, std::vector<std::int32_t>& ids) const {
  std::array<std::int32_t, short_piece> parts;
  std::array<Result, short_piece> results;  // of each part with its right neighbour
  std::size_t count = piece.size();
  for (std::size_t n = 0; n < count; ++n) parts[n] = byte_ids_[static_cast<unsigned char>(piece[n])];
  for (std::size_t n = 0; n + 1 < count; ++n) results[n] = result(parts[n], parts[n + 1]);
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t n = 1; n + 1 < count; ++n)
      if (results[n].rank < results[best].rank) best = n;
    if (results[best].rank == never) break;
    parts[best] = results[best].merged;
    std::copy(&parts[best] + 2, parts.data() + count, &parts[best] + 1);
    std::copy(&results[best] + 1, results.data() + count - 1, &results[best]);
    --count;
    if (best > 0) results[best - 1] = result(parts[best - 1], parts[best]);
    if (best + 1 < count) results[best] = result(parts[best], parts[best + 1]);
  }
  ids.insert(ids.end(), parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(count));
}

/// The same with the candidates in a heap and the parts in a list: a piece may be a whole file.
void BytePairs::encode_long(std::string_view piece, std::vector<std::int32_t>& ids) const {
  struct Part {
    std::int32_t id;  ///< -1: merged into the one before it
    index_t before, after;
  };
  struct Candidate {
    Result result;
    index_t place;
    std::int32_t left, right;
    bool operator<(const Candidate& other) const {  // the queue gives the largest first
      return result.rank != other.result.rank ? result.rank > other.result.rank : place > other.place;
    }
  };
  const index_t end = index_t(piece.size());
  std::vector<Part> parts(piece.size());
  std::vector<Candidate> found;
  for (index_t n = 0; n < end; ++n) parts[n] = {byte_ids_[static_cast<unsigned char>(piece[n])], n - 1, n + 1};
  const auto candidate = [&](index_t place, const auto& add) {
    if (place < 0 || parts[place].after == end) return;
    const std::int32_t left = parts[place].id, right = parts[parts[place].after].id;
    if (const Result merge = result(left, right); merge.rank != never) add(Candidate{merge, place, left, right});
  };
  for (index_t n = 0; n < end; ++n) candidate(n, [&](const Candidate& each) { found.push_back(each); });
  std::priority_queue<Candidate> queue({}, std::move(found));
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Part& part = parts[best.place];
    if (part.id != best.left || part.after == end || parts[part.after].id != best.right) continue;  // merged meanwhile
    Part& gone = parts[part.after];
    part.id = best.result.merged;
    part.after = gone.after;
    gone.id = -1;
    if (part.after < end) parts[part.after].before = best.place;
    const auto push = [&](const Candidate& each) { queue.push(each); };
    candidate(part.before, push);
    candidate(best.place, push);
  }
  for (index_t n = 0; n < end; n = parts[n].after) ids.push_back(parts[n].id);
}

}  // namespace annulus::io
