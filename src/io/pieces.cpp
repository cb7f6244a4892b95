#include "io/pieces.hpp"

#include <array>
#include <cstdint>

#include "io/unicode.hpp"

namespace annulus::io {

namespace {

using namespace unicode;

constexpr Classes not_punctuation = letters | number | spaces;

struct Symbol {
  Classes classes;
  std::uint8_t size;
};

/// Text with the tests that the patterns are made of. A position at the end of the text is in no class and in no
/// class's complement.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text), table_(class_table()) {}

  std::size_t end() const { return text_.size(); }
  Symbol at(std::size_t place) const {
    const auto byte = static_cast<unsigned char>(text_[place]);
    if (byte < 0x80) return {table_[byte], 1};
    const Character found = character(text_, place);
    return {table_[found.point], found.size};
  }
  bool is(std::size_t place, Classes classes) const { return place < end() && (at(place).classes & classes); }
  bool is_byte(std::size_t place, char c) const { return place < end() && text_[place] == c; }
  /// After the longest run of characters of these classes, beginning at `place`.
  std::size_t run(std::size_t place, Classes classes) const {
    while (place < end()) {
      const Symbol symbol = at(place);
      if (!(symbol.classes & classes)) break;
      place += symbol.size;
    }
    return place;
  }
  std::size_t run_outside(std::size_t place, Classes classes) const {
    while (place < end()) {
      const Symbol symbol = at(place);
      if (symbol.classes & classes) break;
      place += symbol.size;
    }
    return place;
  }
  std::size_t numbers(std::size_t place, int most) const {
    for (; most > 0 && is(place, number); --most) place += at(place).size;
    return place;
  }
  std::size_t one_of(std::size_t place, std::string_view characters) const {
    while (place < end() && characters.find(text_[place]) != std::string_view::npos) ++place;
    return place;
  }
  /// The beginning of the character that ends at `place`.
  std::size_t before(std::size_t place) const { return place - character_before(text_, place).size; }

  /// `'(?:[sdmt]|ll|ve|re)` at `place`: where it ends; `place` where there is none.
  std::size_t contraction(std::size_t place) const {
    return contraction(place, [](char c) { return c; });
  }
  /// The same for letters of any case, and with the long s (U+017F), which is an s to (?i:).
  std::size_t contraction_of_any_case(std::size_t place) const {
    if (text_.substr(place, 3) == "'\xC5\xBF") return place + 3;
    return contraction(place, [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  }

  /// `\s+(?!\S)|\s+` at a space: all of a run but its last character, where something follows it.
  std::size_t space_but_last(std::size_t place) const {
    const std::size_t after = run(place, spaces);
    if (after == end()) return after;
    const std::size_t last = before(after);
    return last > place ? last : after;
  }
  /// `\s*[\r\n]+` at `place`: where it ends; `place` where there is no line break.
  std::size_t through_line_breaks(std::size_t place) const {
    for (std::size_t after = run(place, spaces); after > place; after = before(after))
      if (is(after - 1, line_break)) return after;
    return place;
  }

 private:
  template <class Fold>
  std::size_t contraction(std::size_t place, Fold fold) const {
    if (!is_byte(place, '\'') || place + 1 == end()) return place;
    const char first = fold(text_[place + 1]);
    if (first == 's' || first == 'd' || first == 'm' || first == 't') return place + 2;
    if (place + 2 == end()) return place;
    const char second = fold(text_[place + 2]);
    const bool known = (first == 'l' && second == 'l') || (second == 'e' && (first == 'v' || first == 'r'));
    return known ? place + 3 : place;
  }

  std::string_view text_;
  const Classes* table_;
};

std::size_t whole(std::string_view text, std::size_t) { return text.size(); }

std::size_t gpt2(std::string_view text, std::size_t at) {
  const Scanner scan(text);
  if (const std::size_t after = scan.contraction(at); after > at) return after;
  const std::size_t begin = at + scan.is_byte(at, ' ');
  if (scan.is(begin, letters)) return scan.run(begin, letters);
  if (scan.is(begin, number)) return scan.run(begin, number);
  if (begin < scan.end() && !scan.is(begin, spaces)) return scan.run_outside(begin, not_punctuation);
  return scan.space_but_last(at);
}

/// What cl100k and its kin share, but for letters and what may follow punctuation.
std::size_t not_letters(const Scanner& scan, std::size_t at, int digits, std::string_view after_punctuation) {
  if (scan.is(at, number)) return scan.numbers(at, digits);
  const std::size_t begin = at + scan.is_byte(at, ' ');
  if (begin < scan.end() && !scan.is(begin, not_punctuation))
    return scan.one_of(scan.run_outside(begin, not_punctuation), after_punctuation);
  if (const std::size_t after = scan.through_line_breaks(at); after > at) return after;
  return scan.space_but_last(at);
}

template <int digits, bool space_at_the_end_is_whole>
std::size_t cl100k(std::string_view text, std::size_t at) {
  const Scanner scan(text);
  if (const std::size_t after = scan.contraction_of_any_case(at); after > at) return after;
  const Symbol first = scan.at(at);
  if (first.classes & letters) return scan.run(at, letters);
  if (!(first.classes & (number | line_break)) && scan.is(at + first.size, letters))
    return scan.run(at + first.size, letters);
  if (space_at_the_end_is_whole && (first.classes & spaces) && scan.run(at, spaces) == scan.end()) return scan.end();
  return not_letters(scan, at, digits, "\r\n");
}

constexpr Classes big = upper | letter | mark, small = lower | letter | mark;

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+` at `at`: where it ends; `at` where it does not match.
/// When no small letter follows the longest run of big ones, the match ends with the last of them that is small too.
std::size_t ends_small(const Scanner& scan, std::size_t at) {
  std::size_t after = scan.run(at, big);
  if (scan.is(after, small)) return scan.run(after, small);
  for (; after > at; after = scan.before(after))
    if (scan.is(scan.before(after), small)) return after;
  return at;
}

std::size_t begins_big(const Scanner& scan, std::size_t at) {
  const std::size_t after = scan.run(at, big);
  return after > at ? scan.run(after, small) : at;
}

std::size_t o200k(std::string_view text, std::size_t at) {
  const Scanner scan(text);
  const Symbol first = scan.at(at);
  const std::size_t second = first.classes & (letters | number | line_break) ? at : at + first.size;
  for (const auto word : {ends_small, begins_big})
    for (const std::size_t begin : {second, at})
      if (const std::size_t after = word(scan, begin); after > begin) return scan.contraction_of_any_case(after);
  return not_letters(scan, at, 3, "\r\n/");
}

struct Spelling {
  Pattern pattern;
  const char *name, *expression;
};

struct Published {
  Pattern pattern;
  const char *name, *expression;
};

/// The expressions as tokenizer.json files spell them. cl100k's with possessive counts, which tiktoken has, means
/// something else to the regular expressions of the library that reads such files.
constexpr std::array<Published, 6> published{{
    {Pattern::none, "none", nullptr},
    {Pattern::gpt2, "gpt2", R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    {Pattern::cl100k, "cl100k", nullptr},
    {Pattern::llama3, "llama3",
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {Pattern::qwen2, "qwen2",
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {Pattern::o200k, "o200k",
     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
}};

}  // namespace

const char* name_of(Pattern pattern) { return published[static_cast<std::size_t>(pattern)].name; }

std::optional<Pattern> pattern_named(const std::string& name) {
  for (const Published& each : published)
    if (each.name == name) return each.pattern;
  return {};
}

std::optional<Pattern> pattern_spelled(const std::string& expression) {
  for (const Published& each : published)
    if (each.expression && each.expression == expression) return each.pattern;
  return {};
}

PieceEnd piece_end(Pattern pattern) {
  switch (pattern) {
    case Pattern::none:
      return whole;
    case Pattern::gpt2:
      return gpt2;
    case Pattern::cl100k:
      return cl100k<3, true>;
    case Pattern::llama3:
      return cl100k<3, false>;
    case Pattern::qwen2:
      return cl100k<1, false>;
    case Pattern::o200k:
      return o200k;
  }
  return nullptr;
}

std::size_t last_cut(std::string_view text) {
  const Classes* const table = class_table();
  for (std::size_t at = text.size(); at-- > 1;) {
    const char c = text[at];
    if ((c == ' ' || c == '\n' || c == '\r' || c == '\t') &&
        (table[character_before(text, at).point] & (letters | number)))
      return at;
  }
  return 0;
}

}  // namespace annulus::io
