/// Hashes of byte sequences (XXH64, seed 0), as 16 hexadecimal digits: a change is seen, an attacker is not kept out.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace annulus::io {

class ByteHash {
 public:
  ByteHash();
  ~ByteHash();

  void add(std::span<const std::byte> bytes);
  /// With its length (uint32) before it, so that no two sequences of texts run together.
  void add_sized(std::string_view text);
  /// Of everything added so far.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace annulus::io
