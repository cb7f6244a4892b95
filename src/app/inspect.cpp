/// `annulus inspect`: what a checkpoint or a token shard holds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/command.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "io/checkpoint.hpp"
#include "io/token_shards.hpp"
#include "io/tokenizer_record.hpp"

namespace annulus::app {

namespace {

using Json = nlohmann::ordered_json;

bool is_hdf5(const std::string& file) {
  char signature[8] = {};
  std::ifstream(file, std::ios::binary).read(signature, sizeof signature);
  return std::string_view(signature, sizeof signature) == "\x89HDF\r\n\x1a\n";
}

index_t elements(const std::vector<index_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), index_t(1), std::multiplies<>());
}

class Inspect final : public Command {
  const char* name() const override { return "inspect"; }
  const char* summary() const override { return "print what a checkpoint or a token shard holds"; }
  void declare(Options& options) override {
    options.add("FILE", file_, "a checkpoint (.h5) or a token shard (.bin)").required();
    options.flag("--deck", deck_, "of a checkpoint: print the deck it was written with, and nothing else");
    options.add("--text", text_tokens_, "of a shard: print its first so many tokens as text, and nothing else")
        .not_negative();
    options.add("--tokenizer", tokenizer_, "of --text: where the shard's tokenizer lies now, as for tokenize");
    options.flag("--json", json_, "print as JSON");
    options.footer(
        "Reads headers, not tensors. A checkpoint that is not complete is refused (exit code 3).\n\n"
        "Example:\n"
        "  annulus inspect runs/quickstart/checkpoints/step_000000400.h5\n"
        "  annulus inspect data/bytes/train_shard_00000.bin --text 200");
  }

  Exit run(const Seams&) override {
    const bool checkpoint = is_hdf5(file_);
    if (deck_ && !checkpoint) throw Refused("--deck needs a checkpoint, and " + file_ + " is none");
    if (text_tokens_ >= 0 && checkpoint) throw Refused("--text needs a token shard, and " + file_ + " is none");
    if (checkpoint)
      print_checkpoint(io::read_checkpoint_info(file_));
    else
      print_shard(io::TokenShard(file_));
    return Exit::done;
  }

  void print_checkpoint(const io::CheckpointInfo& info) const {
    const auto& [step, sample, tokens, seed, best_validation] = info.counters;
    if (deck_) return log::say(info.deck.substr(0, info.deck.find_last_not_of('\n') + 1));
    Json tensors = Json::array();
    index_t parameters = 0;
    for (const auto& [name, shape] : info.tensors) {
      tensors.push_back({{"name", name}, {"shape", shape}});
      parameters += elements(shape);
    }
    print({{"format version", info.format_version},
           {"step", step},
           {"samples", sample},
           {"tokens", tokens},
           {"seed", seed},
           {"best validation loss", best_validation},
           {"compute type", info.compute_type},
           {"tokenizer", io::tokenizer_record(info.tokenizer).name},
           {"data fingerprint", info.data_fingerprint},
           {"rope history", Json::parse(info.rope_history, nullptr, false)},
           {"git", info.git},
           {"parameters", parameters},
           {"tensors", tensors}});
  }

  void print_shard(const io::TokenShard& shard) const {
    const auto record = io::read_tokenizer_record(shard.path().parent_path());
    if (text_tokens_ >= 0) {
      if (!record && tokenizer_.empty())
        throw Refused("--text needs a tokenizer.json beside " + file_ + ", or --tokenizer");
      const auto tokenizer = io::tokenizer_of(record.value_or(io::TokenizerRecord{}), tokenizer_);
      std::vector<std::int32_t> ids(std::min(text_tokens_, shard.tokens()));
      shard.read(0, ids, tokenizer->vocabulary());
      return log::say(tokenizer->decode(ids));
    }
    Json json = {{"tokens", shard.tokens()}, {"bits of an id", 8 * shard.bytes_per_token()}, {"bytes", shard.bytes()}};
    if (record) {
      json["tokenizer"] = record->name;
      json["tokenizer hash"] = record->hash;
      json["vocabulary"] = record->vocabulary;
      json["end of text"] = record->end_of_text;
    }
    print(json);
  }

  /// The same facts for people or programs.
  void print(const Json& facts) const {
    if (json_) return log::say(facts.dump(2));
    for (const auto& [name, value] : facts.items()) {
      if (name != "tensors") {
        log::say(fmt::format("{:<22}{}", name, value.is_string() ? value.get<std::string>() : value.dump()));
        continue;
      }
      for (const auto& tensor : value)
        log::say(fmt::format("  {:<30} ({})", tensor["name"].get<std::string>(),
                             fmt::join(tensor["shape"].get<std::vector<index_t>>(), ", ")));
    }
  }

  std::string file_, tokenizer_;
  bool deck_ = false, json_ = false;
  index_t text_tokens_ = -1;
};

}  // namespace

std::unique_ptr<Command> inspect_command() { return std::make_unique<Inspect>(); }

}  // namespace annulus::app
