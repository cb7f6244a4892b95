#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "core/error.hpp"
#include "core/text.hpp"
#include "io/byte_pair_files.hpp"
#include "io/file.hpp"
#include "io/token_table.hpp"

namespace annulus::io {

namespace {

/// How published vocabularies go on after their ranks; ids are offsets from the last rank.
struct Published {
  Pattern pattern;
  std::int32_t ranks;  ///< as many lines
  std::int32_t end_of_text, vocabulary;
  std::int32_t start = -1;  ///< the token that begins a document; -1: there is none
};
constexpr std::array<Published, 5> published{{
    {Pattern::gpt2, 50256, 50256, 50257},       // r50k_base
    {Pattern::gpt2, 50280, 50256, 50281},       // p50k_base: its ranks leave 50256 free
    {Pattern::cl100k, 100256, 100257, 100277},  // cl100k_base
    {Pattern::o200k, 199998, 199999, 200019},   // o200k_base
    {Pattern::llama3, 128000, 128001, 128256, 128000},
}};

/// Empty for what is no base64 (RFC 4648, with padding).
std::string from_base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto padding = text.size() - std::min(text.size(), text.find_last_not_of('=') + 1);
  if (text.size() % 4 || padding > 2) return {};
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, text.size() - padding)) {
    const auto digit = digits.find(c);
    if (digit == std::string_view::npos) return {};
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count));
  }
  return bytes;
}

TokenTable ranks_of(const std::filesystem::path& file) {
  TokenTable table;
  std::istringstream lines(InputFile(file).text());
  index_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    const auto space = std::min(line.find(' '), line.size());
    const std::string token = from_base64(std::string_view(line).substr(0, space));
    std::int64_t rank = -1;
    const char* const end = line.data() + line.size();
    const auto [rest, error] = std::from_chars(line.data() + std::min(space + 1, line.size()), end, rank);
    if (token.empty() || error != std::errc() || rest != end)
      throw Refused(text(file.string(), ":", number, ": \"", line.substr(0, 60), "\" is no base64 token and rank"));
    try {
      table.add(token, rank);
    } catch (const Refused& refused) {
      throw Refused(text(file.string(), ":", number, ": ", refused.what()));
    }
  }
  return table;
}

/// Any two tokens that make a third when put together do so, with its id as the rank.
std::vector<Merge> merges_of(const TokenTable& table) {
  std::vector<Merge> merges;
  const auto& tokens = table.tokens();
  for (std::int32_t id = 0; id <= table.largest(); ++id)
    for (std::size_t at = 1; at < tokens[id].size(); ++at) {
      const std::int32_t left = table.find(tokens[id].substr(0, at)), right = table.find(tokens[id].substr(at));
      if (left >= 0 && right >= 0) merges.push_back({left, right, id, id});
    }
  return merges;
}

Published published_as(Pattern pattern, const TokenTable& table, std::int32_t ranks) {
  for (const Published& each : published)
    if (each.pattern == pattern && each.ranks == ranks) return each;
  const std::int32_t next = table.largest() + 1;
  if (pattern == Pattern::llama3) return {pattern, ranks, next + 1, next + 2, next};
  return {pattern, ranks, next, next + 1};
}

}  // namespace

BytePairModel read_tiktoken_file(const std::filesystem::path& file, const std::string& pattern) {
  const TokenTable table = ranks_of(file);
  const auto& tokens = table.tokens();
  const auto ranks = static_cast<std::int32_t>(
      std::count_if(tokens.begin(), tokens.end(), [](const std::string& token) { return !token.empty(); }));
  auto chosen = pattern_named(pattern);
  for (const Published& each : published)
    if (pattern.empty() && each.ranks == ranks) chosen = each.pattern;
  if (!chosen || chosen == Pattern::none || chosen == Pattern::qwen2)
    throw Refused(pattern.empty()
                      ? text(file.string(), " has ", ranks,
                             " ranks, as no published vocabulary has; say its pattern after the file: "
                             ":gpt2, :cl100k, :o200k or :llama3")
                      : text("tiktoken files have the pattern gpt2, cl100k, o200k or llama3, not \"", pattern, "\""));
  const Published rest = published_as(*chosen, table, ranks);
  for (const std::int32_t id : {rest.end_of_text, rest.start})
    if (id >= 0 && id <= table.largest() && !tokens[id].empty())
      throw Refused(text(file.string(), " gives a token the rank ", id, ", which is a control token's in ",
                         name_of(*chosen), "'s published vocabulary"));
  BytePairModel model{.name = {},
                      .tokens = tokens,
                      .not_bytes = {},
                      .merges = merges_of(table),
                      .whole_pieces = true,
                      .pattern = *chosen,
                      .added = {{rest.end_of_text, "<|endoftext|>", true, false}},
                      .document_start = {},
                      .end_of_text = rest.end_of_text,
                      .vocabulary = std::max(rest.vocabulary, table.largest() + 1)};
  if (rest.start >= 0) {
    model.added.push_back({rest.start, "<|begin_of_text|>", true, false});
    model.document_start = {rest.start};
  }
  return model;
}

}  // namespace annulus::io
