/// tokenizer.json beside token shards: what the ids in them mean, and how many shards there should be. It is written
/// last, so that a folder with a record is complete.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "core/types.hpp"
#include "io/tokenizer.hpp"

namespace annulus::io {

struct TokenizerRecord {
  std::string name;
  index_t vocabulary = 0;
  std::int32_t end_of_text = 0;
  std::string hash;  ///< Tokenizer::hash()
  index_t train_shards = 0, validation_shards = 0;
};

/// Nothing when there is no record. Throws Refused for one that is damaged.
std::optional<TokenizerRecord> read_tokenizer_record(const std::filesystem::path& folder);
void write_tokenizer_record(const std::filesystem::path& folder, const TokenizerRecord& record);

/// The tokenizer that a record names. Throws Refused when this program's one of that name has another vocabulary.
std::unique_ptr<Tokenizer> tokenizer_of(const TokenizerRecord& record);

}  // namespace annulus::io
