#include "train/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "core/error.hpp"
#include "eval/position_loss.hpp"
#include "train/schedule.hpp"

namespace annulus::train {

Trainer::Trainer(TrainConfig config, const Feed& feed, const io::Loader* validation)
    : config_(std::move(config)),
      feed_(feed),
      validation_(validation),
      counters_(config_.origin.counters),
      stop_(config_.run.stop_file(), config_.wall_minutes),
      progress_(config_.run, counters_, config_.train.steps, feed.mesh.rank() == 0) {}

Exit Trainer::run() {
  try {
    if (counters_.step == 0) checkpoint();  // what a peer, or a second run, can start from
    while (counters_.step < config_.train.steps) {
      Untold next = step();
      tell_all();
      untold_ = std::move(next);
      if (untold_->step.over() || validation_due()) tell_all();
      const std::string reason = stop_.agreed(feed_.mesh.world(), counters_.step);
      const bool stopping = !reason.empty() && counters_.step < config_.train.steps;
      if (stopping || checkpoint_due()) checkpoint();
      if (stopping) {
        stop_.consume_stop_file();
        progress_.finish("stopped", reason);
        return Exit::stopped;
      }
    }
  } catch (const std::exception& error) {
    progress_.finish("failed", error.what());
    throw;
  }
  progress_.finish("done", "last step");
  return Exit::done;
}

Trainer::Untold Trainer::step() {
  const auto begin = Clock::now();
  const StepSamples samples{counters_.sample, config_.train.micro_batch, config_.accumulation};
  const double lr = learning_rate(config_.schedule, counters_.step, config_.train.steps);
  const auto& adam = config_.optimizer;
  StepUnderWay given = begin_step(feed_, samples,
                                  {.lr = lr,
                                   .beta1 = adam.beta1,
                                   .beta2 = adam.beta2,
                                   .eps = adam.eps,
                                   .decay = adam.decay,
                                   .clip = config_.train.clip,
                                   .step = counters_.step + 1});

  const index_t tokens = samples.count(feed_.mesh.shape()) * feed_.loader.sequence_length();
  counters_.step += 1;
  counters_.sample += samples.count(feed_.mesh.shape());
  counters_.tokens += tokens;
  return {.step = std::move(given),
          .report = {.step = counters_.step,
                     .loss = 0,
                     .lr = lr,
                     .gradient_norm = 0,
                     .seconds = 0,
                     .step_tokens = tokens,
                     .tokens = counters_.tokens},
          .begin = begin};
}

void Trainer::tell(Untold step) {
  StepReport& report = step.report;
  const StepResult result = step.step.result();
  const auto end = Clock::now();
  if (!std::isfinite(result.loss) || !std::isfinite(result.gradient_norm))
    throw Error(
        Exit::failed,
        fmt::format("step {}: loss {} and gradient norm {} are no longer finite numbers; the newest checkpoint is "
                    "of step {}; a lower schedule.peak, a longer schedule.warmup or a smaller train.clip may help",
                    report.step, result.loss, result.gradient_norm, checkpoint_step_));
  report.loss = result.loss;
  report.gradient_norm = result.gradient_norm;
  // a step that was given out early begins when the one before it ends
  report.seconds = std::chrono::duration<double>(end - std::max(step.begin, last_told_)).count();
  last_told_ = end;
  progress_.step(report);
  if (report.step == counters_.step && validation_due()) validate();
  progress_.end_step();
}

void Trainer::tell_all() {
  if (untold_) tell(*std::exchange(untold_, std::nullopt));
}

void Trainer::validate() {
  if (!validation_) return;
  const auto loss = eval::position_loss(feed_.model, *validation_, feed_.layout, feed_.mesh,
                                        std::min(config_.eval.windows, validation_->samples_per_epoch()));
  if (counters_.best_validation == 0 || loss.mean() < counters_.best_validation)
    counters_.best_validation = loss.mean();
  progress_.validation(loss.mean(), loss.tokens);
}

void Trainer::checkpoint() {
  tell_all();  // a loss that is no number must not be kept
  const auto begin = Clock::now();
  auto info = config_.origin;
  info.counters = counters_;
  io::write_checkpoint(config_.run.root, feed_.model, info, config_.checkpoint.keep, feed_.mesh.world());
  last_checkpoint_ = Clock::now();
  checkpoint_step_ = counters_.step;
  progress_.checkpoint(io::checkpoint_path(config_.run.root, counters_.step), counters_.step,
                       std::chrono::duration<double>(last_checkpoint_ - begin).count());
}

bool Trainer::validation_due() const {
  const auto& [every, at, windows] = config_.eval;
  return counters_.step == config_.train.steps || (every > 0 && counters_.step % every == 0) ||
         std::find(at.begin(), at.end(), counters_.step) != at.end();
}

bool Trainer::checkpoint_due() const {
  const auto& [every_steps, every_minutes, keep] = config_.checkpoint;
  if (counters_.step == config_.train.steps || (every_steps > 0 && counters_.step % every_steps == 0)) return true;
  if (every_minutes <= 0) return false;
  const std::chrono::duration<double, std::ratio<60>> since = Clock::now() - last_checkpoint_;
  // clocks differ between ranks: rank 0's counts
  const index_t due = feed_.mesh.rank() == 0 && since.count() >= every_minutes;
  return comm::agree(feed_.mesh.world(), due, comm::Reduction::max) > 0;
}

}  // namespace annulus::train
