#include "io/tokenize.hpp"

#include "core/error.hpp"
#include "core/text.hpp"
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

  const fs::path partial = unfinished(folder);
  ShardWriter train(partial, "train", tokenizer.vocabulary(), options.shard_tokens);
  ShardWriter validation(partial, "val", tokenizer.vocabulary(), options.shard_tokens);
  TextSplit split(summary.bytes, options.validation_fraction);
  std::vector<std::int32_t> ids;
  index_t done = 0;
  for (const auto& file : files) {
    const std::string content = InputFile(file).text();
    for (const auto& stretch : split.stretches(content)) {
      ids = tokenizer.document_start();
      tokenizer.encode(stretch.text, ids);
      ids.push_back(tokenizer.end_of_text());
      (stretch.validates ? validation : train).append(ids);
    }
    done += index_t(content.size());
    progress(done, summary.bytes);
  }
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
