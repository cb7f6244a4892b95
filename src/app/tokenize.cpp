/// `annulus tokenize`: text files to token shards.
#include "io/tokenize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/command.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace annulus::app {

namespace {

/// Says every ten seconds how far it is.
class Progress {
 public:
  void operator()(index_t done, index_t total) {
    using Seconds = std::chrono::duration<double>;
    const auto now = Clock::now();
    if (now - said_ < std::chrono::seconds(10) || done == total) return;
    said_ = now;
    const double rate = static_cast<double>(done) / Seconds(now - begun_).count();
    log::note(fmt::format("{} of {}, {}/s, {} left", bytes_text(done), bytes_text(total), bytes_text(index_t(rate)),
                          duration_text(static_cast<double>(total - done) / rate)));
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begun_ = Clock::now(), said_ = begun_;
};

class Tokenize final : public Command {
  const char* name() const override { return "tokenize"; }
  const char* summary() const override { return "turn text files into token shards for training and validation"; }
  void declare(Options& options) override {
    options.add("FILE", files_, "text files, in the order in which they are read").required();
    options.add("-o,--out", folder_, "folder for the shards; it must not exist yet, or be empty").required();
    options.add("--tokenizer", tokenizer_, std::string(io::tokenizer_specs) + "; see below").with_default();
    options.add("--validation", options_.validation_fraction, "fraction of the text kept for validation, 0 to 0.5")
        .with_default();
    options.add("--shard-tokens", options_.shard_tokens, "most tokens of one shard").with_default().positive();
    options.add("--threads", threads_, "that encode; 0: one for each core").with_default().not_negative();
    options.flag("--json", json_, "print the summary as JSON");
    options.footer(
        "Writes train_shard_*.bin, val_shard_*.bin (llm.c's format) and tokenizer.json. Stretches of all files "
        "alternate\n"
        "between training and validation.\n\n"
        "Tokenizers:\n"
        "  byte                     one token a byte, and one that ends a text\n"
        "  gpt2:DIR                 GPT-2's vocab.bpe and encoder.json in DIR\n"
        "  hf:FILE[:TOKEN]          a tokenizer.json with byte-level BPE; TOKEN ends a document where it is not\n"
        "                           <|endoftext|> or <|end_of_text|>\n"
        "  tiktoken:FILE[:PATTERN]  ranks and their pattern: gpt2, cl100k, o200k or llama3\n\n"
        "Example:\n"
        "  annulus tokenize book.txt notes.txt -o data/bytes\n"
        "then set data.train and data.validation to data/bytes. With GPT-2's vocabulary:\n"
        "  annulus tokenize book.txt -o data/gpt2 --tokenizer gpt2:vocabularies/gpt2");
  }

  Exit run(const Seams&) override {
    const auto tokenizer = io::make_tokenizer(tokenizer_);
    options_.threads = threads_ > 0 ? threads_ : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    const auto summary = io::tokenize({files_.begin(), files_.end()}, folder_, *tokenizer, options_, Progress());
    log::say(json_ ? json_of(summary)
                   : fmt::format(
                         "{}: {} of text in {} file{}, {} training tokens in {} shard{}, {} validation tokens in "
                         "{} shard{}, vocabulary {}",
                         folder_, bytes_text(summary.bytes), summary.files, plural(summary.files), summary.train_tokens,
                         summary.train_shards, plural(summary.train_shards), summary.validation_tokens,
                         summary.validation_shards, plural(summary.validation_shards), tokenizer->vocabulary()));
    return Exit::done;
  }

  static const char* plural(index_t count) { return count == 1 ? "" : "s"; }

  static std::string json_of(const io::TokenizeSummary& summary) {
    const nlohmann::ordered_json json = {
        {"files", summary.files},
        {"bytes", summary.bytes},
        {"train", {{"tokens", summary.train_tokens}, {"shards", summary.train_shards}}},
        {"validation", {{"tokens", summary.validation_tokens}, {"shards", summary.validation_shards}}}};
    return json.dump(2);
  }

  std::vector<std::string> files_;
  std::string folder_, tokenizer_ = "byte";
  int threads_ = 0;
  io::TokenizeOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> tokenize_command() { return std::make_unique<Tokenize>(); }

}  // namespace annulus::app
