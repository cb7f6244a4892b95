#include "app/inputs.hpp"

#include <unistd.h>

#include <fstream>
#include <functional>

#include "core/error.hpp"
#include "core/text.hpp"
#include "io/loader.hpp"
#include "io/token_shards.hpp"

namespace annulus::app {

namespace {

namespace fs = std::filesystem;

/// Reads the whole of a split, and makes the loader that a run would.
void open_data(const RunConfig& config, const std::string& path, const char* split) {
  const io::TokenStream stream(path, split);
  stream.check();
  io::shard_loader(path, split, config.data, io::RowRules{}, config.run.seed, false);
  model::parameter_table(config.model_config(stream.vocabulary()), config.mesh_shape().size());
}

/// Writes and removes a file in the run's directory or, where it does not exist yet, in the nearest folder above it.
void write_into(const fs::path& directory) {
  fs::path folder = fs::absolute(directory);
  while (!fs::exists(folder) && folder.has_parent_path()) folder = folder.parent_path();
  const fs::path trial = folder / text(".annulus-check-", getpid());
  std::ofstream(trial) << "written by annulus check";
  std::error_code failed;
  if (!fs::is_directory(folder) || !fs::remove(trial, failed))
    throw Refused(text(directory.string(), " cannot be made: ", folder.string(), " cannot be written"));
}

}  // namespace

std::vector<std::string> input_violations(const RunConfig& config) {
  std::vector<std::string> violations;
  const auto attempt = [&](const char* key, const std::function<void()>& use) {
    try {
      use();
    } catch (const Error& error) {
      violations.push_back(text(key, ": ", error.what()));
    }
  };
  attempt("data.train", [&] { open_data(config, config.data.train, "train"); });
  if (!config.data.validation.empty())
    attempt("data.validation", [&] {
      open_data(config, config.data.validation, "val");
      refuse_mixed_data(config);
    });
  attempt("run.directory", [&] { write_into(config.directory()); });
  return violations;
}

void refuse_mixed_data(const RunConfig& config) {
  io::refuse_mixed(io::TokenStream(config.data.train, "train").tokenizer(), "data.train",
                   io::TokenStream(config.data.validation, "val").tokenizer(), "data.validation");
}

void refuse_other_tokenizer(const io::CheckpointInfo& checkpoint, const RunConfig& config) {
  if (checkpoint.tokenizer.empty()) return;  // its data had no record
  io::refuse_mixed(io::tokenizer_record(checkpoint.tokenizer), "the checkpoint",
                   io::TokenStream(config.data.train, "train").tokenizer(), "data.train");
}

}  // namespace annulus::app
