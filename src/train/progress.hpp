/// What a run tells while it works: a line a step on stdout, metrics.csv, events.jsonl and run.json in its directory.
#pragma once
#include <deque>
#include <filesystem>
#include <optional>
#include <string>

#include "io/checkpoint.hpp"
#include "io/metrics.hpp"
#include "io/run_directory.hpp"

namespace annulus::train {

struct StepReport {
  index_t step;
  double loss, lr, gradient_norm;
  double seconds;
  index_t step_tokens;  ///< of this step
  index_t tokens;       ///< of all steps so far
};

class Progress {
 public:
  /// Goes on after `from`; `speaks`: rank 0. The other ranks' calls do nothing.
  Progress(const io::RunDirectory& run, const io::Counters& from, index_t steps, bool speaks);

  /// A step is told in this order: what it was, its validation, that it is over.
  void step(const StepReport& report);
  void validation(double loss, index_t tokens);
  void end_step();

  void checkpoint(const std::filesystem::path& file, index_t step, double seconds);
  void finish(const std::string& status, const std::string& reason);

 private:
  bool speaks() const { return metrics_.has_value(); }
  double seconds_per_step() const;

  io::RunDirectory run_;
  io::RunState state_;
  std::optional<io::MetricsFile> metrics_;
  std::optional<io::EventLog> events_;
  io::StepMetrics row_;        ///< of the step that is being told
  std::deque<double> recent_;  ///< seconds of the last steps
};

}  // namespace annulus::train
