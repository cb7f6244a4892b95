#include "train/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/log.hpp"
#include "core/text.hpp"

namespace annulus::train {

Progress::Progress(const io::RunDirectory& run, const io::Counters& from, index_t steps, bool speaks) : run_(run) {
  if (!speaks) return;
  metrics_.emplace(run.metrics(), from.step);
  events_.emplace(run.events());
  state_.step = from.step;
  state_.steps = steps;
  if (from.step > 0) state_.checkpoint_step = from.step;
  events_->append(from.step == 0 ? "start" : "resume", from.step, {{"steps", steps}, {"tokens", from.tokens}});
  io::write_run_state(run_, state_);
}

void Progress::step(const StepReport& report) {
  if (!speaks()) return;
  recent_.push_back(report.seconds);
  if (recent_.size() > 20) recent_.pop_front();
  const double rate = double(report.step_tokens) / report.seconds;
  row_ = {.step = report.step,
          .loss = report.loss,
          .lr = report.lr,
          .grad_norm = report.gradient_norm,
          .ms = 1e3 * report.seconds,
          .tokens_per_second = rate,
          .tokens = report.tokens,
          .validation_loss = {}};
  state_.step = report.step;
  state_.loss = report.loss;
  state_.seconds_per_step = seconds_per_step();
  const auto steps = std::to_string(state_.steps);
  log::say(fmt::format("step {:>{}}/{}  loss {:.4f}  lr {:.3e}  norm {:.3f}  {:.0f} ms  {} tokens/s  left {}",
                       report.step, steps.size(), steps, report.loss, report.lr, report.gradient_norm,
                       1e3 * report.seconds, count_text(rate),
                       duration_text(state_.seconds_per_step * double(state_.steps - report.step))));
}

void Progress::validation(double loss, index_t tokens) {
  if (!speaks()) return;
  row_.validation_loss = state_.validation_loss = loss;
  log::say(fmt::format("validation  step {}  loss {:.4f}  {} tokens", state_.step, loss, tokens));
  events_->append("validation", state_.step, {{"loss", loss}, {"tokens", tokens}});
}

void Progress::end_step() {
  if (!speaks()) return;
  metrics_->append(row_);
  io::write_run_state(run_, state_);
}

void Progress::checkpoint(const std::filesystem::path& file, index_t step, double seconds) {
  if (!speaks()) return;
  state_.checkpoint_step = step;
  log::say(fmt::format("checkpoint  {}  {:.1f} s", file.string(), seconds));
  events_->append("checkpoint", step, {{"file", file.string()}, {"seconds", seconds}});
  io::write_run_state(run_, state_);
}

void Progress::finish(const std::string& status, const std::string& reason) {
  if (!speaks()) return;
  state_.status = status;
  state_.reason = reason;
  log::say(fmt::format("{}  step {}/{}: {}", status, state_.step, state_.steps, reason));
  events_->append(status, state_.step, {{"reason", reason}});
  io::write_run_state(run_, state_);
}

double Progress::seconds_per_step() const {
  // the median: a step with a page fault or a busy machine does not count
  auto sorted = recent_;
  std::nth_element(sorted.begin(), sorted.begin() + std::ptrdiff_t(sorted.size() / 2), sorted.end());
  return sorted[sorted.size() / 2];
}

}  // namespace annulus::train
