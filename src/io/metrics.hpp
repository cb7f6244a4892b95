/// What a run measures as it goes on, in two text files that any tool can follow: metrics.csv, one row a step, and
/// events.jsonl, one JSON object an event. Each line reaches the system as soon as it is complete. Rank 0 writes them.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/types.hpp"

namespace annulus::io {

/// A row of metrics.csv; numbers are written so that they read back as the same bits.
struct StepMetrics {
  index_t step = 0;                       ///< steps done
  double loss = 0;                        ///< mean nll of the step's tokens, in nats
  double lr = 0, grad_norm = 0;           ///< before clipping
  double ms = 0, tokens_per_second = 0;   ///< of this step, over all ranks
  index_t tokens = 0;                     ///< trained on since the run began
  std::optional<double> validation_loss;  ///< where this step was followed by a validation; else the field is empty
};

class MetricsFile {
 public:
  /// Goes on after step `resumed`: later rows, and one that a killed run left unfinished, are dropped, so that the file
  /// is what an uninterrupted run would have written. 0 begins anew. Throws Refused for a file that cannot be written,
  /// or that has other columns.
  MetricsFile(const std::filesystem::path& path, index_t resumed);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  void append(const StepMetrics& row);

 private:
  std::filesystem::path path_;
  int descriptor_;
};

/// The rows of a metrics.csv, an unfinished last one left out. Throws Refused for a file that is none.
std::vector<StepMetrics> read_metrics(const std::filesystem::path& path);

/// A field of an event besides its name, step and time.
using EventField = std::pair<std::string, std::variant<std::string, double, index_t, bool>>;

/// A journal: nothing in it is ever taken back, a resumed run's events follow those of the run that was stopped.
class EventLog {
 public:
  /// Closes a line that a killed run left unfinished.
  explicit EventLog(const std::filesystem::path& path);
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  /// {"event": "checkpoint", "step": 100, "time": "2026-01-31T12:00:00Z", ...fields}
  void append(const std::string& event, index_t step, const std::vector<EventField>& fields);

 private:
  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace annulus::io
