/// The first step of a byte-pair tokenizer: text into pieces that are encoded each for itself, by the published regular
/// expressions, written out by hand. No piece depends on what stands before it.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace annulus::io {

enum class Pattern {
  none,    ///< the whole text is one piece
  gpt2,    ///< also r50k_base and p50k_base
  cl100k,  ///< as tiktoken has it: space at the end of a text is one piece
  llama3,  ///< cl100k as it was first published; also in Hugging Face's files for cl100k
  qwen2,   ///< llama3 with each digit alone
  o200k,
};

const char* name_of(Pattern pattern);
/// By its name, or by the regular expression as tokenizer.json files spell it.
std::optional<Pattern> pattern_named(const std::string& name);
std::optional<Pattern> pattern_spelled(const std::string& expression);

/// Where the piece that begins at text[at] ends; at < text.size(). Ill-formed UTF-8 counts as U+FFFD, byte by byte.
using PieceEnd = std::size_t (*)(std::string_view text, std::size_t at);
PieceEnd piece_end(Pattern pattern);

/// The last place in `text` where every pattern begins a new piece whatever comes before and after, so that both sides
/// may be encoded for themselves: between a letter or digit and a space or line break. 0: there is none.
std::size_t last_cut(std::string_view text);

}  // namespace annulus::io
