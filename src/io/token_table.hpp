/// A vocabulary as files spell it, while a BytePairModel is made of it.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/byte_pairs.hpp"

namespace annulus::io {

/// Far beyond what published vocabularies have: what asks for more is damaged or hostile.
constexpr std::int64_t most_ids = 1 << 21;
constexpr std::size_t longest_token = 2048;  ///< bytes as spelled

class TokenTable {
 public:
  /// Throws Refused for an id outside 0 to `most_ids`, one that is taken, and a token that is empty or too long.
  void add(const std::string& spelled, std::int64_t id);
  /// Throws Refused, naming what is none.
  void add_all(const nlohmann::json& vocabulary);

  /// -1: there is none.
  std::int32_t find(const std::string& spelled) const;
  std::int32_t largest() const { return static_cast<std::int32_t>(tokens_.size()) - 1; }
  /// Throws Refused where a part or the whole is no token.
  Merge merge(const std::string& left, const std::string& right, std::int32_t rank) const;
  /// By id, from the alphabet of byte-level vocabularies, in which each byte is a printable character.
  struct ByteLevel {
    std::vector<std::string> tokens;                              ///< their bytes; empty for the others
    std::vector<std::pair<std::int32_t, std::string>> not_bytes;  ///< tokens with other characters, as they are
  };
  ByteLevel byte_level() const;
  /// As they are.
  const std::vector<std::string>& tokens() const { return tokens_; }

 private:
  std::vector<std::string> tokens_;  ///< by id; empty: none
  std::unordered_map<std::string, std::int32_t> ids_;
};

/// `line` is "left right". Throws Refused for anything else.
std::pair<std::string, std::string> parts_of_merge(const std::string& line);

}  // namespace annulus::io
