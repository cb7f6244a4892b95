#include "io/token_table.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/error.hpp"
#include "core/text.hpp"
#include "io/unicode.hpp"

namespace annulus::io {

namespace {

/// A character of the byte-level alphabet to its byte, -1 for others: what is printable in Latin-1 is itself, the other
/// bytes follow from U+0100 on.
std::array<int, 0x144> byte_level_alphabet() {
  std::array<int, 0x144> bytes;
  bytes.fill(-1);
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    bytes[printable ? byte : next++] = byte;
  }
  return bytes;
}

/// Nothing where a character is not in the alphabet.
std::optional<std::string> from_byte_level(const std::string& spelled) {
  static const auto alphabet = byte_level_alphabet();
  std::string bytes;
  for (std::size_t at = 0; at < spelled.size();) {
    const auto found = unicode::character(spelled, at);
    if (found.point >= alphabet.size() || alphabet[found.point] < 0) return {};
    bytes.push_back(static_cast<char>(alphabet[found.point]));
    at += found.size;
  }
  return bytes;
}

}  // namespace

void TokenTable::add(const std::string& spelled, std::int64_t id) {
  if (id < 0 || id >= most_ids)
    throw Refused(text("token \"", spelled, "\" has the id ", id, "; ids lie in 0 to ", most_ids - 1));
  if (spelled.size() > longest_token)
    throw Refused(text("token ", id, " has ", spelled.size(), " bytes; at most ", longest_token, " make sense"));
  if (spelled.empty()) throw Refused(text("token ", id, " is empty"));
  if (id >= index_t(tokens_.size())) tokens_.resize(id + 1);
  if (!tokens_[id].empty())
    throw Refused(text("tokens \"", tokens_[id], "\" and \"", spelled, "\" have the same id, ", id));
  tokens_[id] = spelled;
  if (!ids_.emplace(spelled, static_cast<std::int32_t>(id)).second)
    throw Refused(text("token \"", spelled, "\" has two ids, ", ids_[spelled], " and ", id));
}

void TokenTable::add_all(const nlohmann::json& vocabulary) {
  if (!vocabulary.is_object()) throw Refused("the vocabulary is no object of tokens and ids");
  for (const auto& [spelled, id] : vocabulary.items()) {
    if (!id.is_number_integer()) throw Refused("token \"" + spelled + "\" has an id that is no integer");
    add(spelled, id.get<std::int64_t>());
  }
}

std::int32_t TokenTable::find(const std::string& spelled) const {
  const auto found = ids_.find(spelled);
  return found == ids_.end() ? -1 : found->second;
}

Merge TokenTable::merge(const std::string& left, const std::string& right, std::int32_t rank) const {
  const Merge merge{find(left), find(right), find(left + right), rank};
  for (const auto& [id, spelled] : {std::pair(merge.left, left), {merge.right, right}, {merge.merged, left + right}})
    if (id < 0)
      throw Refused(text("merge ", rank, ", \"", left, " ", right, "\", needs the token \"", spelled,
                         "\", which is not in the vocabulary"));
  return merge;
}

TokenTable::ByteLevel TokenTable::byte_level() const {
  ByteLevel found;
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    const auto bytes = from_byte_level(tokens_[id]);
    found.tokens.push_back(bytes.value_or(""));
    if (!bytes) found.not_bytes.emplace_back(id, tokens_[id]);
  }
  return found;
}

std::pair<std::string, std::string> parts_of_merge(const std::string& line) {
  const auto space = line.find(' ');
  if (space == std::string::npos || line.find(' ', space + 1) != std::string::npos || space == 0 ||
      space + 1 == line.size())
    throw Refused("\"" + line + "\" is no merge of two tokens");
  return {line.substr(0, space), line.substr(space + 1)};
}

}  // namespace annulus::io
