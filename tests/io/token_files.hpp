/// Shards written byte by byte from the format's definition, sharing nothing with the writer under test.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "io/scratch_folder.hpp"

namespace annulus::test {

using Ids = std::vector<std::int32_t>;

inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int b = 0; b < bytes; ++b) out.push_back(static_cast<char>(value >> (8 * b)));
  return out;
}

/// llm.c's header and ids.
inline std::string shard_bytes(const Ids& ids, bool wide = false) {
  std::string out =
      little_endian(wide ? 20240801 : 20240520, 4) + little_endian(wide ? 7 : 1, 4) + little_endian(ids.size(), 4);
  out.resize(1024, '\0');
  for (const auto id : ids) out += little_endian(static_cast<std::uint32_t>(id), wide ? 4 : 2);
  return out;
}

/// A record as docs describe it.
inline void put_record(const std::filesystem::path& folder, int vocabulary, int end_of_text, int train_shards,
                       int validation_shards = 0) {
  put(folder / "tokenizer.json", "{\"name\": \"byte\", \"vocabulary\": " + std::to_string(vocabulary) +
                                     ", \"end_of_text\": " + std::to_string(end_of_text) +
                                     ", \"hash\": \"-\", \"shards\": {\"train\": " + std::to_string(train_shards) +
                                     ", \"val\": " + std::to_string(validation_shards) + "}}");
}

/// What `call` refused with.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing was refused";
}

}  // namespace annulus::test
