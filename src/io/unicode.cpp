#include "io/unicode.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

#include "io/unicode_tables.hpp"

namespace annulus::io::unicode {

namespace {

constexpr Character malformed{0xFFFD, 1, false};

Classes class_of(Kind kind, std::uint32_t offset) {
  constexpr std::array<Classes, 8> classes{upper, lower, 0, letter, mark, number, space, line_break};
  if (kind == Kind::cased) return offset % 2 ? lower : upper;
  return classes[static_cast<std::size_t>(kind)];
}

std::vector<Classes> expanded() {
  std::vector<Classes> table(0x110000);
  for (const auto& [first, count, kind] : class_runs)
    for (std::uint32_t n = 0; n < count; ++n) table[first + n] = class_of(kind, n);
  return table;
}

}  // namespace

Character character(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[at + n]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::uint8_t size = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (size == 0 || size > text.size() - at) return malformed;
  char32_t point = lead & (0x7F >> size);
  for (std::uint8_t n = 1; n < size; ++n) {
    if ((byte(n) & 0xC0) != 0x80) return malformed;
    point = point << 6 | (byte(n) & 0x3F);
  }
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  if (point < least[size] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return malformed;
  return {point, size, true};
}

Character character_before(std::string_view text, std::size_t at) {
  assert(at > 0);
  for (std::size_t size = 1; size <= std::min<std::size_t>(4, at); ++size) {
    if ((static_cast<unsigned char>(text[at - size]) & 0xC0) == 0x80) continue;
    const Character found = character(text.substr(0, at), at - size);
    return found.size == size ? found : malformed;
  }
  return malformed;
}

void append(std::string& text, char32_t point) {
  const auto tail = [&](int shift) { text.push_back(static_cast<char>(0x80 | (point >> shift & 0x3F))); };
  if (point < 0x80) return text.push_back(static_cast<char>(point));
  if (point < 0x800) {
    text.push_back(static_cast<char>(0xC0 | point >> 6));
  } else if (point < 0x10000) {
    text.push_back(static_cast<char>(0xE0 | point >> 12));
    tail(6);
  } else {
    text.push_back(static_cast<char>(0xF0 | point >> 18));
    tail(12);
    tail(6);
  }
  tail(0);
}

const Classes* class_table() {
  static const std::vector<Classes> table = expanded();
  return table.data();
}

}  // namespace annulus::io::unicode
