/// The ids of words met lately. One slot a word, taken over by the next word that falls on it: the same 2 MiB whatever
/// the text.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace annulus::io {

class WordCache {
 public:
  static constexpr std::size_t longest = 24;
  struct alignas(64) Entry {
    std::array<std::uint64_t, 3> word{};
    std::array<std::int32_t, 9> ids;
    std::uint8_t length = 0, count = 0;  ///< count 0: the ids are not known

    bool holds(const std::array<std::uint64_t, 3>& other, std::size_t size) const {
      return word == other && length == size;
    }
  };

  /// The slot of text[at] to text[at + size), size at most `longest`; with count 0 where another word was in it.
  Entry& operator()(std::string_view text, std::size_t at, std::size_t size) {
    const auto word = loaded(text, at, size);
    std::uint64_t mixed = (word[0] ^ size) * 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 29 ^ word[1]) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 32 ^ word[2]) * 0x94D049BB133111EBu;
    Entry& entry = entries_[mixed >> (64 - bits)];
    if (!entry.holds(word, size)) {
      entry.word = word;
      entry.length = static_cast<std::uint8_t>(size);
      entry.count = 0;
    }
    return entry;
  }

 private:
  static constexpr int bits = 15;

  static std::array<std::uint64_t, 3> loaded(std::string_view text, std::size_t at, std::size_t size) {
    std::array<std::uint64_t, 3> word{};
    if (at + longest > text.size()) {
      std::memcpy(word.data(), text.data() + at, size);
      return word;
    }
    std::memcpy(word.data(), text.data() + at, longest);  // a load of fixed size, and what is too much masked away
    for (std::size_t n = 0; n < 3; ++n) {
      const std::size_t kept = size > 8 * n ? size - 8 * n : 0;
      if (kept < 8) word[n] &= (std::uint64_t{1} << 8 * kept) - 1;
    }
    return word;
  }

  std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << bits);
};

}  // namespace annulus::io
