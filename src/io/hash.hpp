/// Hashes of byte sequences (XXH64, seed 0), as 16 hexadecimal digits: a change is seen, an attacker is not kept out.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace annulus::io {

class ByteHash {
 public:
  ByteHash();
  ~ByteHash();

  void add(std::span<const std::byte> bytes);
  /// Of everything added so far.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace annulus::io
