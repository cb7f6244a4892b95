/// Trains: batches in, optimizer steps, validation, checkpoints, until the last step or a reason to stop. On a GPU a
/// step is told after the next one has been given out, so that the device never waits for the host; before a validation
/// and a checkpoint all steps have been told.
#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "eval/keys.hpp"
#include "io/checkpoint.hpp"
#include "io/keys.hpp"
#include "io/run_directory.hpp"
#include "train/keys.hpp"
#include "train/optimizer_step.hpp"
#include "train/progress.hpp"
#include "train/stop.hpp"

namespace annulus::train {

/// What a deck says of the training itself.
struct TrainConfig {
  TrainKeys train;
  OptimizerKeys optimizer;
  ScheduleKeys schedule;
  io::CheckpointKeys checkpoint;
  eval::EvalKeys eval;
  double wall_minutes = 0;   ///< [run] wall_minutes
  index_t accumulation = 1;  ///< micro-batches per step and dp rank
  io::RunDirectory run;
  io::CheckpointInfo origin;  ///< counters to go on from; deck, git, fingerprint and tokenizer for later checkpoints
};

class Trainer {
 public:
  /// `validation`: nullptr where there is none. What is referred to outlives the trainer.
  Trainer(TrainConfig config, const Feed& feed, const io::Loader* validation);

  /// To the last step (Exit::done) or until a stop is asked for (Exit::stopped, resumable). Collective. Throws
  /// Error(Exit::failed) when the loss is no longer a finite number; the last checkpoint is then the last good one.
  Exit run();

  const io::Counters& counters() const { return counters_; }

 private:
  using Clock = std::chrono::steady_clock;
  /// A step that has been given out and not been told.
  struct Untold {
    StepUnderWay step;
    StepReport report;  ///< loss, gradient norm and seconds are yet to come
    Clock::time_point begin;
  };
  Untold step();
  void tell(Untold step);
  /// Whatever has not been told.
  void tell_all();
  void validate();
  void checkpoint();
  bool validation_due() const;
  bool checkpoint_due() const;

  TrainConfig config_;
  Feed feed_;
  const io::Loader* validation_;
  io::Counters counters_;
  StopRequests stop_;
  Progress progress_;
  std::optional<Untold> untold_;  ///< the last step, unless it is over
  Clock::time_point last_told_{};
  Clock::time_point last_checkpoint_ = Clock::now();
  index_t checkpoint_step_ = -1;
};

}  // namespace annulus::train
