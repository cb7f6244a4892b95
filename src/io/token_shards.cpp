#include "io/token_shards.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdio>

#include "core/error.hpp"
#include "core/text.hpp"
#include "io/hash.hpp"

namespace annulus::io {

namespace {

using Header = std::array<std::int32_t, 256>;

struct Format {
  std::int32_t magic, version;
  int bytes_per_token;
  index_t vocabulary;        ///< of llm.c's own data
  std::int32_t end_of_text;  ///< of llm.c's own data
};
constexpr Format narrow{20240520, 1, 2, 50257, 50256}, wide{20240801, 7, 4, 128256, 128000};

const Format& format_of(const TokenShard& shard) { return shard.bytes_per_token() == 2 ? narrow : wide; }

}  // namespace

std::string shard_name(const std::string& split, index_t number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "_shard_%05lld.bin", static_cast<long long>(number));
  return split + digits;
}

TokenShard::TokenShard(const std::filesystem::path& path) : file_(path) {
  Header header;
  if (file_.size() < index_t{sizeof header})
    throw Refused(
        text(path.string(), " has ", file_.size(), " bytes, fewer than the header of a token shard, ", sizeof header));
  file_.read(0, std::as_writable_bytes(std::span(header)));
  const Format& format = header[0] == wide.magic ? wide : narrow;
  if (header[0] != format.magic || header[1] != format.version)
    throw Refused(text(path.string(), " is no token shard: it begins with ", header[0], ", version ", header[1],
                       "; known are ", narrow.magic, ", version ", narrow.version, " (uint16) and ", wide.magic,
                       ", version ", wide.version, " (uint32)"));
  bytes_per_token_ = format.bytes_per_token;
  tokens_ = header[2];
  const index_t expected = index_t{sizeof header} + tokens_ * bytes_per_token_;
  if (tokens_ < 0 || file_.size() != expected)
    throw Refused(text(path.string(), " has ", file_.size(), " bytes, but its header promises ", tokens_, " tokens, ",
                       expected, " bytes: it was not copied or written whole"));
}

void TokenShard::read(index_t first, std::span<std::int32_t> ids, index_t vocabulary) const {
  assert(first >= 0 && first + index_t(ids.size()) <= tokens_);
  const auto widened = [&](auto stored) {
    file_.read(index_t{sizeof(Header)} + first * bytes_per_token_, std::as_writable_bytes(std::span(stored)));
    for (std::size_t n = 0; n < stored.size(); ++n) {
      if (index_t{stored[n]} >= vocabulary)
        throw Refused(text(path().string(), ": token ", first + index_t(n), " is ", stored[n],
                           ", but the vocabulary has ", vocabulary, " ids, 0 to ", vocabulary - 1));
      ids[n] = static_cast<std::int32_t>(stored[n]);
    }
  };
  if (bytes_per_token_ == 2)
    widened(std::vector<std::uint16_t>(ids.size()));
  else
    widened(std::vector<std::uint32_t>(ids.size()));
}

TokenStream::TokenStream(const std::filesystem::path& path, const std::string& split) : begins_{0} {
  const bool folder = std::filesystem::is_directory(path);
  const auto record = read_tokenizer_record(folder ? path : path.parent_path());
  if (folder) {
    index_t present = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      const auto name = entry.path().filename().string();
      present += name.starts_with(split + "_shard_") && name.ends_with(".bin");
    }
    const index_t promised = !record ? present : split == "train" ? record->train_shards : record->validation_shards;
    if (std::max(present, promised) == 0)
      throw Refused(
          text("there is no ", (path / shard_name(split, 0)).string(), "; `annulus tokenize` makes one from text"));
    if (present > promised)
      throw Refused(
          text(path.string(), " holds ", present, " ", split, " shards, but its tokenizer.json speaks of ", promised));
    for (index_t n = 0; n < promised; ++n) shards_.emplace_back(path / shard_name(split, n));
  } else {
    shards_.emplace_back(path);
  }
  for (const auto& shard : shards_) {
    begins_.push_back(begins_.back() + shard.tokens());
    if (shard.bytes_per_token() != shards_.front().bytes_per_token())
      throw Refused(
          text(shard.path().string(), " and ", shards_.front().path().string(), " have ids of different widths"));
  }
  const Format& format = format_of(shards_.front());
  tokenizer_ = record.value_or(
      TokenizerRecord{.name = {}, .vocabulary = format.vocabulary, .end_of_text = format.end_of_text, .hash = {}});
}

void TokenStream::read(index_t first, std::span<std::int32_t> ids) const {
  assert(first >= 0 && first + index_t(ids.size()) <= tokens());
  auto s = static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), first) - begins_.begin() - 1);
  for (; !ids.empty(); ++s) {
    const auto count = std::min<index_t>(ids.size(), begins_[s + 1] - first);
    shards_[s].read(first - begins_[s], ids.first(count), tokenizer_.vocabulary);
    ids = ids.subspan(count);
    first += count;
  }
}

void TokenStream::check() const {
  std::vector<std::int32_t> ids(1 << 20);
  std::uint64_t document = 0;  // the next one's number
  bool inside = false;         // the shard before has ended within it
  for (const auto& shard : shards_) {
    const auto index = read_document_index(shard.path(), shard.tokens());
    std::size_t next = 0;
    const auto refuse = [&](index_t at) {
      throw Refused(text(document_index_path(shard.path()).string(), " does not fit the shard beside it: a document ",
                         inside ? "goes on" : "begins", " at token ", at));
    };
    if (index && index->documents() > 0) {
      if (&shard == &shards_.front()) document = index->numbers[0];  // one shard of several may be a run's whole data
      if (index->numbers[0] != document) refuse(0);
    }
    for (index_t first = 0; first < shard.tokens(); first += index_t(ids.size())) {
      const auto part = std::span(ids).first(std::min<index_t>(ids.size(), shard.tokens() - first));
      shard.read(first, part, tokenizer_.vocabulary);
      for (std::size_t n = 0; n < part.size(); ++n) {
        const auto at = static_cast<std::uint64_t>(first) + n;
        const bool listed = index && next + 1 < index->offsets.size() && index->offsets[next] == at;
        if (index && listed != (!inside || at == 0)) refuse(index_t(at));
        next += listed;
        inside = part[n] != tokenizer_.end_of_text;
        document += !inside;
      }
    }
  }
}

std::string TokenStream::fingerprint() const {
  constexpr index_t page = 4096, pages = 64;
  ByteHash hash;
  std::vector<std::byte> bytes;
  const auto add = [&](const TokenShard& shard, index_t offset, index_t count) {
    bytes.resize(count);
    shard.read_bytes(offset, bytes);
    hash.add(bytes);
  };
  for (const auto& shard : shards_) {
    const index_t size = shard.bytes(), header = sizeof(Header);
    hash.add(std::as_bytes(std::span(&size, 1)));
    if (size <= page * pages) {
      add(shard, 0, size);
      continue;
    }
    add(shard, 0, header);
    for (index_t p = 0; p < pages; ++p) add(shard, header + (size - header - page) / (pages - 1) * p, page);
  }
  return hash.text();
}

ShardWriter::ShardWriter(std::filesystem::path folder, std::string split, index_t vocabulary, std::int32_t end_of_text,
                         index_t shard_tokens)
    : folder_(std::move(folder)),
      split_(std::move(split)),
      wide_(vocabulary > 65536),
      end_of_text_(end_of_text),
      shard_tokens_(shard_tokens) {
  assert(shard_tokens > 0 && shard_tokens <= most_shard_tokens);
}

void ShardWriter::append(std::span<const std::int32_t> ids) {
  while (!ids.empty()) {
    if (!file_) file_ = std::make_unique<NewFile>(folder_ / shard_name(split_, shards_));
    const auto count = std::min<index_t>(ids.size(), shard_tokens_ - in_shard_);
    write_ids(ids.first(count));
    ids = ids.subspan(count);
    if (in_shard_ == shard_tokens_) complete_shard();
  }
}

void ShardWriter::write_ids(std::span<const std::int32_t> ids) {
  const index_t offset = index_t{sizeof(Header)} + in_shard_ * (wide_ ? 4 : 2);
  const std::vector<std::uint16_t> narrowed(ids.begin(), wide_ ? ids.begin() : ids.end());
  file_->write(offset, wide_ ? std::as_bytes(ids) : std::as_bytes(std::span(narrowed)));
  index(ids);
  in_shard_ += index_t(ids.size());
  tokens_ += index_t(ids.size());
}

void ShardWriter::index(std::span<const std::int32_t> ids) {
  for (std::size_t n = 0; n < ids.size(); ++n) {
    if (!inside_) {
      if (in_shard_ + index_t(n) > 0) index_.offsets.push_back(static_cast<std::uint64_t>(in_shard_) + n);
      index_.numbers.push_back(document_);
    }
    inside_ = ids[n] != end_of_text_;
    document_ += !inside_;
  }
}

void ShardWriter::complete_shard() {
  index_.offsets.push_back(static_cast<std::uint64_t>(in_shard_));
  write_document_index(folder_ / shard_name(split_, shards_), index_);  // before the shard: each that is there has one
  index_ = {};
  inside_ = false;  // a document that goes on is listed again
  const Format& format = wide_ ? wide : narrow;
  const Header header{format.magic, format.version, static_cast<std::int32_t>(in_shard_)};
  file_->write(0, std::as_bytes(std::span(header)));
  file_->commit();
  file_.reset();
  in_shard_ = 0;
  ++shards_;
}

void ShardWriter::finish() {
  if (file_) complete_shard();
}

}  // namespace annulus::io
