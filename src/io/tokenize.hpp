/// Text files to a folder of token shards: what `annulus tokenize` does.
#pragma once
#include <filesystem>
#include <functional>
#include <vector>

#include "io/tokenizer.hpp"

namespace annulus::io {

struct TokenizeOptions {
  double validation_fraction = 0.1;    ///< of the bytes; 0 to 0.5
  index_t shard_tokens = 100'000'000;  ///< at most, as llm.c's scripts write them
  int threads = 1;
};

struct TokenizeSummary {
  index_t files = 0, bytes = 0;
  index_t train_tokens = 0, validation_tokens = 0;
  index_t train_shards = 0, validation_shards = 0;
};

/// Each stretch of a file (io/text_split.hpp) becomes one document, closed by end-of-text, in {train,val}_shard_*.bin
/// of `folder`, with a tokenizer.json. The folder appears when it is complete; it must not exist yet, or be empty.
/// `progress` hears how many of how many bytes are done, after each file and, in
/// large ones, each few MiB. Memory does not grow with the text. Throws Refused for text that cannot be read,
/// or that is too short to give both sets something.
TokenizeSummary tokenize(const std::vector<std::filesystem::path>& files, const std::filesystem::path& folder,
                         const Tokenizer& tokenizer, const TokenizeOptions& options,
                         const std::function<void(index_t done, index_t total)>& progress);

}  // namespace annulus::io
