#include "io/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace annulus::io {

struct ByteHash::State {
  XXH64_state_t xxh;
};

ByteHash::ByteHash() : state_(std::make_unique<State>()) { XXH64_reset(&state_->xxh, 0); }

ByteHash::~ByteHash() = default;

void ByteHash::add(std::span<const std::byte> bytes) { XXH64_update(&state_->xxh, bytes.data(), bytes.size()); }

void ByteHash::add_sized(std::string_view text) {
  const std::uint32_t length = static_cast<std::uint32_t>(text.size());
  std::string sized(sizeof length, '\0');
  std::memcpy(sized.data(), &length, sizeof length);
  sized += text;
  add(std::as_bytes(std::span(sized)));
}

std::string ByteHash::text() const {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(XXH64_digest(&state_->xxh)));
  return digits;
}

}  // namespace annulus::io
