/// What a run tells while it works: a line a step on stdout, metrics.csv, events.jsonl and run.json in its directory.
#pragma once
#include <deque>
#include <filesystem>
#include <memory>
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
  /// `speaks`: rank 0. The other ranks' calls do nothing.
  Progress(const io::RunDirectory& run, const io::Counters& from, index_t steps, bool speaks);

  void step(const StepReport& report);
  void validation(index_t step, double loss, index_t tokens);
  void checkpoint(const std::filesystem::path& file, index_t step, double seconds);
  void finish(const std::string& status, const std::string& reason);

 private:
  double seconds_per_step() const;
  void save_state();

  io::RunDirectory run_;
  io::RunState state_;
  std::unique_ptr<io::Metrics> metrics_;  ///< none where this rank does not speak
  std::deque<double> recent_;             ///< seconds of the last steps
};

}  // namespace annulus::train
