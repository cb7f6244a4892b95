#include "app/trained_model.hpp"

#include "app/inputs.hpp"
#include "core/text.hpp"

namespace annulus::app {

namespace {

RunConfig checked_config(const TrainedModelOptions& options, const ParallelRun& parallel) {
  RunConfig config = options.deck.config();
  check_ranks(config, parallel.ranks());
  return config;
}

io::CheckpointInfo load(const TrainedModelOptions& options, const RunConfig& config, Assembly& parts) {
  auto& world = parts.mesh().world();
  if (!options.checkpoint.empty()) return io::read_checkpoint(options.checkpoint, parts.model(), world);
  const auto info = io::resume_newest(config.directory(), parts.model(), world);
  if (!info)
    throw BadCheckpoint(text("the run ", config.directory().string(),
                             " has no checkpoint; train it first, or name one with --checkpoint"));
  return *info;
}

}  // namespace

void TrainedModelOptions::declare(Options& options) {
  deck.declare(options);
  options.add("--checkpoint", checkpoint, "a checkpoint file (default: the newest complete one of the deck's run)");
}

TrainedModel::TrainedModel(const TrainedModelOptions& options, ParallelRun& parallel, const Seams& seams)
    : config_(checked_config(options, parallel)),
      parts_(config_, parallel.world(), parallel.streams(), seams),
      info_(load(options, config_, parts_)) {
  refuse_other_tokenizer(info_, config_);
}

}  // namespace annulus::app
