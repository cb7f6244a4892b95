#include "io/unicode.hpp"

#include <catch2/catch_test_macros.hpp>

#include "io/nfc.hpp"

using namespace annulus::io;
using namespace annulus::io::unicode;

TEST_CASE("unicode: ill-formed UTF-8 is bytes, from either side", "[io]") {
  const struct {
    const char* text;
    char32_t point;
    int size;
    bool well_formed;
  } cases[] = {{"a", 'a', 1, true},
               {"\xc2\x80", 0x80, 2, true},
               {"\xe2\x80\xa8", 0x2028, 3, true},
               {"\xf0\x9f\x99\x82", 0x1F642, 4, true},
               {"\xf4\x8f\xbf\xbf", 0x10FFFF, 4, true},
               {"\x80", 0xFFFD, 1, false},
               {"\xc1\x81", 0xFFFD, 1, false},          // overlong
               {"\xe0\x9f\xbf", 0xFFFD, 1, false},      // overlong
               {"\xf0\x8f\xbf\xbf", 0xFFFD, 1, false},  // overlong
               {"\xed\xa0\x80", 0xFFFD, 1, false},      // a surrogate
               {"\xf4\x90\x80\x80", 0xFFFD, 1, false},  // beyond U+10FFFF
               {"\xe2\x80", 0xFFFD, 1, false},          // cut short
               {"\xe2\x80y", 0xFFFD, 1, false},
               {"\xff", 0xFFFD, 1, false}};
  for (const auto& [text, point, size, well_formed] : cases) {
    const std::string given(text), before = "x" + given;
    CAPTURE(given);
    const Character found = character(given, 0);
    CHECK((found.point == point && found.size == size && found.well_formed == well_formed));
    const Character last = character_before(before, before.size());
    if (well_formed) {
      CHECK((last.point == point && last.size == size));
      std::string again;
      append(again, point);
      CHECK(again == given);
    } else if (given.back() != 'y') {
      CHECK((last.size == 1 && !last.well_formed));
    }
  }
  CHECK(character_before("\u00e9\xa9", 3).size == 1);
}

// Unicode 16.0's data files.
TEST_CASE("unicode: the classes of characters that tokenizers disagree about", "[io]") {
  const auto is = [](char32_t point) { return class_table()[point]; };
  for (const char32_t point :
       {0x09, 0x0B, 0x0C, 0x20, 0x85, 0xA0, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000})
    CHECK(is(point) == space);
  CHECK((is('\n') == line_break && is('\r') == line_break));
  for (const char32_t point : {0x1C, 0x1F, 0x180E, 0x200B, 0x200D, 0xFEFF, 0xFFFD, 0x1F642, 0x40000})
    CHECK(is(point) == 0);
  CHECK((is('A') == upper && is(0x1C5) == upper && is(0x104) == upper && is(0x1E900) == upper));
  CHECK((is('z') == lower && is(0x17F) == lower && is(0x105) == lower && is(0xAA) == letter && is(0x2B0) == letter));
  CHECK((is(0x6771) == letter && is(0x9FFF) == letter && is(0x20000) == letter && is(0x323AF) == letter));
  CHECK((is(0x300) == mark && is(0x20DD) == mark && is(0xE0100) == mark));
  CHECK((is('7') == number && is(0xBD) == number && is(0x2160) == number && is(0x1FBF9) == number));
  CHECK((is(0x10D40) == number && is(0x1C89) == upper));  // new in 16.0
}

TEST_CASE("nfc: composes, reorders, and leaves alone what it must", "[io]") {
  const struct {
    const char *text, *normal;
  } cases[] = {
      {"plain", "plain"},
      {"e\u0301", "\u00e9"},
      {"x\u0301\u0323", "x\u0323\u0301"},  // in order of their classes
      {"a\u0323\u0302", "\u1ead"},         // two steps
      {"a\u0302\u0323", "\u1ead"},         // after reordering
      {"a\u0315\u0301", "\u00e1\u0315"},   // past a mark of another class
      {"a\u0305\u0301", "a\u0305\u0301"},  // not past one of the same
      {"\u212b", "\u00c5"},                // a character for one
      {"\u0958", "\u0915\u093c"},          // excluded from composition
      {"\u0344", "\u0308\u0301"},          // marks for marks
      {"\u1100\u1161\u11a8", "\uac01"},    // Hangul
      {"\uac00\u11a8", "\uac01"},
      {"\uac01\u11a8", "\uac01\u11a8"},
      {"\uf900", "\u8c48"},
      {"\u0301e", "\u0301e"},
      {"e\xff\u0301", "e\xff\u0301"},                    // bytes that are no UTF-8 keep apart
      {"\U00016d67\U00016d67", "\U00016d67\U00016d67"},  // of Unicode 16.0, after 9.0
  };
  for (const auto& [text, normal] : cases) {
    CAPTURE(text);
    CHECK(nfc(text) == normal);
    CHECK(nfc(normal) == normal);
    CHECK((!surely_nfc(text) || std::string(text) == normal));
  }
}
