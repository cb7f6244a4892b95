#include "io/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>

namespace annulus::io {

struct ByteHash::State {
  XXH64_state_t xxh;
};

ByteHash::ByteHash() : state_(std::make_unique<State>()) { XXH64_reset(&state_->xxh, 0); }

ByteHash::~ByteHash() = default;

void ByteHash::add(std::span<const std::byte> bytes) { XXH64_update(&state_->xxh, bytes.data(), bytes.size()); }

std::string ByteHash::text() const {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(XXH64_digest(&state_->xxh)));
  return digits;
}

}  // namespace annulus::io
