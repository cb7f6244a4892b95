/// The second step of a byte-pair tokenizer: the bytes of a piece, merged pair by pair; always the pair of lowest rank,
/// of equal ones the leftmost. Sennrich, Haddow, Birch: arxiv.org/abs/1508.07909.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/types.hpp"

namespace annulus::io {

/// Two neighbouring tokens become one.
struct Merge {
  std::int32_t left, right, merged, rank;
};

class BytePairs {
 public:
  /// `tokens` are the bytes by id (empty: no token) and stay with the caller. A piece that is a token as a whole is
  /// that token where `whole_pieces`, whatever the merges would make of it. Throws Refused where one of the 256 bytes
  /// has no token of its own, or a pair is merged twice.
  BytePairs(std::span<const std::string> tokens, std::span<const Merge> merges, bool whole_pieces);

  /// Appends the ids of `piece`.
  void encode(std::string_view piece, std::vector<std::int32_t>& ids) const;

 private:
  struct Result {
    std::int32_t rank, merged;  ///< rank `never`: the pair is not merged
  };
  struct Slot {
    std::uint64_t pair;
    Result result;
  };
  static constexpr std::int32_t never = 0x7fffffff;
  static constexpr std::size_t short_piece = 48;  ///< bytes up to which looking through all pairs is fastest

  static std::uint64_t key(std::int32_t left, std::int32_t right);
  std::size_t slot(std::uint64_t pair) const;
  Result result(std::int32_t left, std::int32_t right) const;
  void encode_short(std::string_view piece, std::vector<std::int32_t>& ids) const;
  void encode_long(std::string_view piece, std::vector<std::int32_t>& ids) const;

  std::array<std::int32_t, 256> byte_ids_;
  std::vector<Slot> slots_;  ///< a power of two of them, probed linearly
  std::unordered_map<std::string_view, std::int32_t> whole_pieces_;
};

}  // namespace annulus::io
