#include "io/run_directory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error.hpp"

namespace annulus::io {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RunState, status, reason, step, steps, seconds_per_step, loss,
                                                validation_loss, checkpoint_step, updated, process, host)

void write_run_state(const RunDirectory& run, RunState state) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  state.host = host;
  state.process = getpid();
  state.updated = std::time(nullptr);

  auto temporary = run.state();
  temporary += ".tmp";
  std::ofstream file(temporary);
  file << nlohmann::json(state).dump(2) << '\n';
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(temporary, run.state(), error);
  if (!file || error)
    throw Error(Exit::internal,
                fmt::format("{} cannot be written{}", run.state().string(), error ? ": " + error.message() : ""));
}

RunState read_run_state(const RunDirectory& run) {
  std::ifstream file(run.state());
  if (!file) throw Refused(fmt::format("{} is not a run's directory: it has no run.json", run.root.string()));
  try {
    return nlohmann::json::parse(file).get<RunState>();
  } catch (const nlohmann::json::exception& error) {
    throw Refused(fmt::format("{} cannot be read: {}", run.state().string(), error.what()));
  }
}

}  // namespace annulus::io
