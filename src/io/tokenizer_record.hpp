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
  std::string name;  ///< Tokenizer::name(); empty for shards that no record describes
  index_t vocabulary = 0;
  std::int32_t end_of_text = 0;
  std::string hash;  ///< Tokenizer::hash(); empty where it is not known
  index_t train_shards = 0, validation_shards = 0;
};

/// Nothing when there is no record. Throws Refused for one that is damaged.
std::optional<TokenizerRecord> read_tokenizer_record(const std::filesystem::path& folder);
void write_tokenizer_record(const std::filesystem::path& folder, const TokenizerRecord& record);

/// As one line of JSON, for checkpoints; empty for a record without a name.
std::string text_of(const TokenizerRecord& record);
/// A text without JSON is the name of a tokenizer, as the first checkpoints have it. Throws Refused for a damaged one.
TokenizerRecord tokenizer_record(const std::string& text);

/// The tokenizer that a record names, or the same one from elsewhere, where `spec` says. Throws Refused when it is
/// another one: its hash is not the record's.
std::unique_ptr<Tokenizer> tokenizer_of(const TokenizerRecord& record, const std::string& spec = {});

/// Throws Refused where the ids of the two, of which `of_a` and `of_b` speak in the message, mean different things.
void refuse_mixed(const TokenizerRecord& a, const std::string& of_a, const TokenizerRecord& b, const std::string& of_b);

}  // namespace annulus::io
