/// Which tokens of a sequence each rank holds: an ordered list of global intervals. Any length and any number of ranks:
/// chunks differ by at most one token and may be empty. Layout happens once, before embedding; nothing is permuted
/// inside a layer.
///   contiguous  rank r holds chunk r of R
///   zigzag      rank r holds chunks r and 2R-1-r of 2R, which balances causal attention
///               (Brandon et al. 2023, arXiv 2311.09431, section 3; head/tail pairing as in ring-flash-attention)
#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace annulus::cp {

/// The global positions begin .. begin + count - 1.
struct Segment {
  index_t begin, count;
  bool operator==(const Segment&) const = default;
};

class SequenceLayout {
 public:
  static constexpr int most_segments = 8;  ///< per rank

  static SequenceLayout contiguous(index_t length, int ranks);
  static SequenceLayout zigzag(index_t length, int ranks);
  /// By its deck name; throws Refused for another.
  static SequenceLayout named(const std::string& name, index_t length, int ranks);

  index_t length() const { return length_; }
  int ranks() const { return static_cast<int>(segments_.size()); }
  /// Of one rank, ascending, without empty ones.
  std::span<const Segment> segments(int rank) const { return segments_[rank]; }
  index_t count(int rank) const;
  /// The largest count: what buffers are sized for.
  index_t max_count() const;
  /// Global position of a rank's local token.
  index_t global(int rank, index_t local) const;

 private:
  SequenceLayout(index_t length, std::vector<std::vector<Segment>> segments);
  index_t length_;
  std::vector<std::vector<Segment>> segments_;
};

}  // namespace annulus::cp
