/// What a run leaves in its directory, and the one small file that says how it is doing.
///   deck.toml        the resolved deck
///   run.json         RunState
///   metrics.csv      a line a step
///   events.jsonl     start, validation, checkpoint, stop
///   checkpoints/     step_000001200.h5 ...
///   stop             put there by its owner to stop the run: at once, or once the number of steps in it is done
#pragma once
#include <filesystem>
#include <string>

#include "core/types.hpp"

namespace annulus::io {

struct RunDirectory {
  std::filesystem::path root;
  std::filesystem::path deck() const { return root / "deck.toml"; }
  std::filesystem::path state() const { return root / "run.json"; }
  std::filesystem::path metrics() const { return root / "metrics.csv"; }
  std::filesystem::path events() const { return root / "events.jsonl"; }
  std::filesystem::path checkpoints() const { return root / "checkpoints"; }
  std::filesystem::path stop_file() const { return root / "stop"; }
};

struct RunState {
  std::string status = "running";  ///< running | stopped | done | failed
  std::string reason;  ///< why it stopped or failed: "stop file", "SIGTERM", "wall clock", an error's sentence
  index_t step = 0, steps = 0;
  double seconds_per_step = 0;  ///< over the last steps
  double loss = 0;
  double validation_loss = 0;    ///< 0: none yet
  index_t checkpoint_step = -1;  ///< of the newest complete checkpoint; -1: none yet
  index_t updated = 0;           ///< seconds since 1970; write_run_state sets it
  int process = 0;               ///< of rank 0: whether a "running" run still does
  std::string host;
};

/// Replaces the file in one step (temporary name, rename); throws Error(Exit::internal) when it cannot.
void write_run_state(const RunDirectory& run, RunState state);
/// Throws Refused when the directory holds no run, or its file cannot be read.
RunState read_run_state(const RunDirectory& run);

}  // namespace annulus::io
