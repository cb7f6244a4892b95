/// The generated tables behind io/unicode.hpp and io/nfc.hpp (tools/unicode_tables.py).
#pragma once
#include <cstdint>
#include <span>

namespace annulus::io::unicode {

enum class Kind : std::uint8_t {
  upper,   ///< Lu, Lt
  lower,   ///< Ll
  cased,   ///< upper and lower in turns, beginning with upper
  letter,  ///< Lm, Lo
  mark,    ///< M
  number,  ///< N
  space,   ///< White_Space without the line breaks
  line_break,
};

struct ClassRun {
  std::uint32_t first;
  std::uint16_t count;
  Kind kind;
};
extern const std::span<const ClassRun> class_runs;

/// A character that stands for another one.
struct Single {
  std::uint32_t composed, first;
};
extern const std::span<const Single> singles;

/// A character that stands for two; NFC puts them together again where `composes`.
struct Pair {
  std::uint32_t composed, first, second;
  bool composes;
};
extern const std::span<const Pair> pairs;

struct CombiningRun {
  std::uint32_t first;
  std::uint8_t count, combining_class;
};
extern const std::span<const CombiningRun> combining_runs;

}  // namespace annulus::io::unicode
