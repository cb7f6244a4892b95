#include "io/tokenize.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/text.hpp"
#include "io/document_batch.hpp"
#include "io/file.hpp"
#include "io/text_split.hpp"
#include "io/token_shards.hpp"
#include "io/tokenizer_record.hpp"

namespace annulus::io {

namespace fs = std::filesystem;

namespace {

/// Where the shards are written until they are complete. What a killed run left there goes.
fs::path unfinished(const fs::path& folder) {
  if (fs::exists(folder) && (!fs::is_directory(folder) || !fs::is_empty(folder)))
    throw Refused(text(folder.string(), " exists and is not empty; give another folder, or remove it first"));
  fs::path partial = folder.string() + ".partial";
  std::error_code failed;
  fs::remove_all(partial, failed);
  if (!failed) fs::create_directories(partial, failed);
  if (failed) throw Refused(text("cannot make ", partial.string(), ": ", failed.message()));
  return partial;
}

/// The unread text of a file, a few MiB at a time.
class FileWindow {
 public:
  explicit FileWindow(InputFile file) : file_(std::move(file)) {}

  /// Reads on where little is left; false at the end of the file.
  bool fill() {
    if (text().size() > TextSplit::look_ahead || last()) return !text().empty();
    buffer_.erase(0, begin_);
    begin_ = 0;
    const std::size_t kept = buffer_.size();
    buffer_.resize(kept + static_cast<std::size_t>(std::min<index_t>(window_bytes, file_.size() - read_)));
    file_.read(read_, std::as_writable_bytes(std::span(buffer_).subspan(kept)));
    read_ += index_t(buffer_.size() - kept);
    return !text().empty();
  }
  std::string_view text() const { return std::string_view(buffer_).substr(begin_); }
  bool last() const { return read_ == file_.size(); }
  void drop(std::size_t bytes) { begin_ += bytes; }

 private:
  static constexpr index_t window_bytes = index_t{4} << 20;

  InputFile file_;
  std::string buffer_;
  std::size_t begin_ = 0;
  index_t read_ = 0;
};

constexpr std::size_t batch_bytes = std::size_t{4} << 20;  // for each thread

}  // namespace

TokenizeSummary tokenize(const std::vector<fs::path>& files, const fs::path& destination, const Tokenizer& tokenizer,
                         const TokenizeOptions& options,
                         const std::function<void(index_t done, index_t total)>& progress) {
  const fs::path folder =
      destination.has_filename() ? destination : destination.parent_path();  // "shards/" is "shards"
  TokenizeSummary summary{.files = index_t(files.size())};
  for (const auto& file : files) summary.bytes += InputFile(file).size();
  if (summary.bytes == 0) throw Refused(text("there is no text: ", files.size(), " files with 0 bytes"));
  if (!(options.validation_fraction >= 0 && options.validation_fraction <= 0.5))
    throw Refused(text("the fraction for validation is ", options.validation_fraction, "; it must lie in 0 to 0.5"));
  if (options.shard_tokens < 1 || options.shard_tokens > most_shard_tokens)
    throw Refused(text("a shard of ", options.shard_tokens, " tokens cannot be: llm.c's header counts up to ",
                       most_shard_tokens));

  const fs::path partial = unfinished(folder);
  ShardWriter train(partial, "train", tokenizer.vocabulary(), tokenizer.end_of_text(), options.shard_tokens);
  ShardWriter validation(partial, "val", tokenizer.vocabulary(), tokenizer.end_of_text(), options.shard_tokens);
  DocumentBatch batch(tokenizer, options.threads, [&](std::span<const std::int32_t> ids, bool validates) {
    (validates ? validation : train).append(ids);
  });
  TextSplit split(summary.bytes, options.validation_fraction);
  index_t done = 0;
  for (const auto& file : files) {
    FileWindow window{InputFile(file)};
    while (window.fill()) {
      const auto [text, validates, ends] = split.next(window.text(), window.last());
      batch.add(text, validates, ends);
      done += index_t(text.size());
      window.drop(text.size());
      if (batch.bytes() >= batch_bytes * static_cast<std::size_t>(options.threads)) {
        batch.flush();
        progress(done, summary.bytes);
      }
    }
    progress(done, summary.bytes);
  }
  batch.flush();
  train.finish();
  validation.finish();
  if (train.tokens() == 0 || (options.validation_fraction > 0 && validation.tokens() == 0))
    throw Refused(text("a text of ", summary.bytes, " bytes is too short to set ", options.validation_fraction,
                       " of it aside for validation"));

  summary.train_tokens = train.tokens();
  summary.validation_tokens = validation.tokens();
  summary.train_shards = train.shards();
  summary.validation_shards = validation.shards();
  write_tokenizer_record(partial, {.name = tokenizer.name(),
                                   .vocabulary = tokenizer.vocabulary(),
                                   .end_of_text = tokenizer.end_of_text(),
                                   .hash = tokenizer.hash(),
                                   .train_shards = train.shards(),
                                   .validation_shards = validation.shards()});
  publish(partial, folder);
  return summary;
}

}  // namespace annulus::io
