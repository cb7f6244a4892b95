/// Characters of UTF-8 text and the classes that the patterns of tokenizers name.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace annulus::io::unicode {

/// Sets of characters, one bit each; a character is in one or in none.
using Classes = std::uint8_t;
constexpr Classes upper = 1;    ///< \p{Lu}, \p{Lt}
constexpr Classes lower = 2;    ///< \p{Ll}
constexpr Classes letter = 4;   ///< \p{Lm}, \p{Lo}
constexpr Classes mark = 8;     ///< \p{M}
constexpr Classes number = 16;  ///< \p{N}
constexpr Classes space = 32;   ///< \s without line breaks: U+0085, U+00A0 and U+2028 are in it, U+FEFF and U+180E not
constexpr Classes line_break = 64;  ///< \r and \n
constexpr Classes letters = upper | lower | letter;
constexpr Classes spaces = space | line_break;

struct Character {
  char32_t point;
  std::uint8_t size;  ///< bytes
  bool well_formed;
};

/// The character at text[at]. A byte that begins no well-formed UTF-8 sequence (overlong forms, surrogates and what is
/// cut short are none) is U+FFFD of one byte.
Character character(std::string_view text, std::size_t at);
/// The character that ends before text[at], at > 0.
Character character_before(std::string_view text, std::size_t at);
void append(std::string& text, char32_t point);

/// By code point, 0x110000 of them.
const Classes* class_table();

}  // namespace annulus::io::unicode
