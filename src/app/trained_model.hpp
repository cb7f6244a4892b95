/// A run's model with its newest checkpoint in it, for commands that use one.
#pragma once
#include "app/assembly.hpp"
#include "app/deck_options.hpp"
#include "app/parallel_run.hpp"
#include "io/checkpoint.hpp"

namespace annulus::app {

struct TrainedModelOptions {
  DeckOptions deck;
  std::string checkpoint;  ///< empty: the run's newest

  void declare(Options& options);
};

class TrainedModel {
 public:
  /// Collective. Throws Refused or BadCheckpoint.
  TrainedModel(const TrainedModelOptions& options, ParallelRun& parallel, const Seams& seams);

  const RunConfig& config() const { return config_; }
  const io::CheckpointInfo& info() const { return info_; }
  Assembly& parts() { return parts_; }

 private:
  RunConfig config_;
  Assembly parts_;
  io::CheckpointInfo info_;
};

}  // namespace annulus::app
