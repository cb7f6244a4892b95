/// Token shards in llm.c's format: 256 int32 (magic, version, number of tokens, zeros), then the ids, little-endian.
///   magic 20240520, version 1: uint16 ids      magic 20240801, version 7: uint32 ids
/// The shards of a split, <folder>/{train,val}_shard_00000.bin and on, are one stream of tokens.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/document_index.hpp"
#include "io/file.hpp"
#include "io/tokenizer_record.hpp"

namespace annulus::io {

/// train_shard_00000.bin
std::string shard_name(const std::string& split, index_t number);

class TokenShard {
 public:
  /// Throws Refused for another magic or version, and where header and size of the file do not fit.
  explicit TokenShard(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }
  index_t tokens() const { return tokens_; }
  int bytes_per_token() const { return bytes_per_token_; }
  index_t bytes() const { return file_.size(); }
  /// Throws Refused for an id at or above the vocabulary, naming file and position.
  void read(index_t first, std::span<std::int32_t> ids, index_t vocabulary) const;
  void read_bytes(index_t offset, std::span<std::byte> out) const { file_.read(offset, out); }

 private:
  InputFile file_;
  int bytes_per_token_;
  index_t tokens_;
};

class TokenStream {
 public:
  /// `path` is a folder with the shards of `split`, or one shard. Without a tokenizer record beside them the ids are
  /// those of llm.c's own scripts: GPT-2's in uint16, Llama 3's in uint32. Throws Refused for a missing shard.
  TokenStream(const std::filesystem::path& path, const std::string& split);

  index_t tokens() const { return begins_.back(); }
  index_t vocabulary() const { return tokenizer_.vocabulary; }
  std::int32_t end_of_text() const { return tokenizer_.end_of_text; }
  /// The record beside the shards; without one, without name and hash.
  const TokenizerRecord& tokenizer() const { return tokenizer_; }
  const std::vector<TokenShard>& shards() const { return shards_; }
  void read(index_t first, std::span<std::int32_t> ids) const;
  /// Reads every id once, for `check`: what is wrong anywhere is refused before a run meets it, a document index that
  /// does not fit included.
  void check() const;
  /// XXH64 over each shard's size, header and 64 evenly spaced pages: the whole of a shard up to 256 KiB, and enough of
  /// a larger one to tell another text or order; no names or times, so that a copy elsewhere is the same data.
  std::string fingerprint() const;

 private:
  std::vector<TokenShard> shards_;
  std::vector<index_t> begins_;  ///< of each shard in the stream, then the stream's length
  TokenizerRecord tokenizer_;
};

/// The header counts in an int32.
inline constexpr index_t most_shard_tokens = 0x7fffffff;

/// Appends ids to shards of at most `shard_tokens` each, with their document indices.
class ShardWriter {
 public:
  /// Each end-of-text closes a document of the index that is written beside each shard.
  ShardWriter(std::filesystem::path folder, std::string split, index_t vocabulary, std::int32_t end_of_text,
              index_t shard_tokens);

  void append(std::span<const std::int32_t> ids);
  /// Completes the last shard.
  void finish();
  index_t tokens() const { return tokens_; }
  index_t shards() const { return shards_; }

 private:
  void write_ids(std::span<const std::int32_t> ids);
  void complete_shard();
  /// Notes where documents of these ids, which come next in the shard, begin.
  void index(std::span<const std::int32_t> ids);

  std::filesystem::path folder_;
  std::string split_;
  bool wide_;
  std::int32_t end_of_text_;
  DocumentIndex index_;
  std::uint64_t document_ = 0;  ///< the number of the one that the next id belongs to
  bool inside_ = false;         ///< whether it has begun, in this shard
  index_t shard_tokens_, in_shard_ = 0, tokens_ = 0, shards_ = 0;
  std::unique_ptr<NewFile> file_;
};

}  // namespace annulus::io
