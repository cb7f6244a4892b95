/// The documents of a token shard, in a file beside it, so that nothing needs to read all tokens to find them:
/// train_shard_00000.idx beside train_shard_00000.bin. Little-endian:
///   256 int32     20261201, version 1; as uint64 at bytes 8, 16 and 24: documents, tokens of the shard, XXH64 of the
///   rest n + 1 uint64  where each document begins in the shard; then the shard's number of tokens n uint64      the
///   document's number in the data
/// A document that does not fit into a shard goes on in the next: it is the last of one and the first of the other.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/types.hpp"

namespace annulus::io {

struct DocumentIndex {
  std::vector<std::uint64_t> offsets{0};  ///< (documents + 1) ascending
  std::vector<std::uint64_t> numbers;     ///< (documents) ascending by one

  index_t documents() const { return index_t(numbers.size()); }
  index_t tokens() const { return index_t(offsets.back()); }
};

/// Of the shard of that name.
std::filesystem::path document_index_path(const std::filesystem::path& shard);
/// The file appears whole or not at all.
void write_document_index(const std::filesystem::path& shard, const DocumentIndex& index);
/// Nothing where there is none. Throws Refused for one that is damaged, or that belongs to a shard of another length.
std::optional<DocumentIndex> read_document_index(const std::filesystem::path& shard, index_t tokens);

}  // namespace annulus::io
