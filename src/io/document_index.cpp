#include "io/document_index.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstring>
#include <span>

#include "core/error.hpp"
#include "core/text.hpp"
#include "io/file.hpp"

namespace annulus::io {

namespace {

constexpr std::int32_t magic = 20261201, version = 1;
constexpr index_t header_bytes = 1024;

using Words = std::vector<std::uint64_t>;

/// What stands at bytes 8, 16 and 24 of the header.
struct Counts {
  std::uint64_t documents, tokens, hash;
};

std::uint64_t hash_of(std::span<const std::uint64_t> words) { return XXH64(words.data(), words.size_bytes(), 0); }

/// Documents in order, none empty, numbered one after the other, up to the shard's end.
bool holds_together(const DocumentIndex& index) {
  if (index.offsets.front() != 0) return false;
  for (std::size_t n = 0; n < index.numbers.size(); ++n)
    if (index.offsets[n] >= index.offsets[n + 1] || index.numbers[n] != index.numbers[0] + n) return false;
  return true;
}

}  // namespace

std::filesystem::path document_index_path(const std::filesystem::path& shard) {
  return std::filesystem::path(shard).replace_extension(".idx");
}

void write_document_index(const std::filesystem::path& shard, const DocumentIndex& index) {
  Words words = index.offsets;
  words.insert(words.end(), index.numbers.begin(), index.numbers.end());
  std::array<std::byte, header_bytes> header{};
  const std::int32_t kind[] = {magic, version};
  const Counts counts{std::uint64_t(index.documents()), std::uint64_t(index.tokens()), hash_of(words)};
  std::memcpy(header.data(), kind, sizeof kind);
  std::memcpy(header.data() + sizeof kind, &counts, sizeof counts);
  NewFile file(document_index_path(shard));
  file.write(0, header);
  file.write(header_bytes, std::as_bytes(std::span(words)));
  file.commit();
}

std::optional<DocumentIndex> read_document_index(const std::filesystem::path& shard, index_t tokens) {
  const auto path = document_index_path(shard);
  if (!std::filesystem::exists(path)) return {};
  const InputFile file(path);
  const auto refuse = [&](const std::string& why) { throw Refused(text(path.string(), ' ', why)); };
  if (file.size() < header_bytes)
    refuse(text("has ", file.size(), " bytes, fewer than the header of a document index"));

  std::array<std::byte, header_bytes> header;
  file.read(0, header);
  std::int32_t kind[2];
  Counts counts;
  std::memcpy(kind, header.data(), sizeof kind);
  std::memcpy(&counts, header.data() + sizeof kind, sizeof counts);
  if (kind[0] != magic || kind[1] != version)
    refuse(text("is no document index: it begins with ", kind[0], ", version ", kind[1], "; known is ", magic,
                ", version ", version));
  constexpr index_t word = sizeof(std::uint64_t);
  const index_t body = file.size() - header_bytes;
  if (body % word != 0 || counts.documents > std::uint64_t(body) || body / word != 2 * index_t(counts.documents) + 1)
    refuse(text("has ", file.size(), " bytes, which are not those of the ", counts.documents,
                " documents that its header promises"));
  Words words(body / word);
  file.read(header_bytes, std::as_writable_bytes(std::span(words)));
  const auto middle = words.begin() + index_t(counts.documents) + 1;
  const DocumentIndex index{{words.begin(), middle}, {middle, words.end()}};
  if (hash_of(words) != counts.hash || !holds_together(index) || index.offsets.back() != counts.tokens)
    refuse("is damaged: its hash or its order is not what it should be");
  if (index.tokens() != tokens)
    refuse(text("speaks of ", index.tokens(), " tokens, and the shard beside it has ", tokens));
  return index;
}

}  // namespace annulus::io
