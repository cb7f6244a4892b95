/// `annulus status`: how a run is doing, or how it ended.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <nlohmann/json.hpp>

#include "app/command.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "io/checkpoint.hpp"
#include "io/checkpoint_folder.hpp"
#include "io/run_directory.hpp"

namespace annulus::app {

namespace {

/// Whether a run that says it is running was killed without a chance to say so; known only on the machine it ran on.
bool was_killed(const io::RunState& state) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return state.status == "running" && state.host == host && kill(state.process, 0) != 0 && errno == ESRCH;
}

struct LastCheckpoint {
  index_t step = -1;                 ///< -1: there is none
  std::vector<std::string> damaged;  ///< newer ones that cannot be read, and why
};

LastCheckpoint last_good_checkpoint(const std::filesystem::path& run) {
  LastCheckpoint last;
  for (const index_t step : io::checkpoint_steps(run)) {
    try {
      io::read_checkpoint_info(io::checkpoint_path(run, step));
      last.step = step;
      return last;
    } catch (const BadCheckpoint& error) {
      last.damaged.emplace_back(error.what());
    }
  }
  return last;
}

class Status final : public Command {
  const char* name() const override { return "status"; }
  const char* summary() const override { return "say how far a run is, or why it stopped"; }
  void declare(Options& options) override {
    options.add("RUN", run_, "a run's directory, such as runs/quickstart").required();
    options.flag("--json", json_, "print as JSON");
    options.footer(
        "Reads the run's files; the run is not disturbed.\n\n"
        "Example:\n"
        "  annulus status runs/quickstart");
  }

  Exit run(const Seams&) override {
    const io::RunState state = io::read_run_state({run_});
    const LastCheckpoint checkpoint = last_good_checkpoint(run_);
    const std::string status = was_killed(state) ? "killed" : state.status;
    const double left = double(state.steps - state.step) * state.seconds_per_step;
    const auto file = io::checkpoint_path(run_, checkpoint.step);
    if (json_) {
      const nlohmann::ordered_json json = {
          {"status", status},
          {"reason", state.reason},
          {"step", state.step},
          {"steps", state.steps},
          {"loss", state.loss},
          {"validation_loss", state.validation_loss},
          {"seconds_per_step", state.seconds_per_step},
          {"seconds_left", left},
          {"checkpoint", checkpoint.step < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(file.string())},
          {"checkpoint_step", checkpoint.step},
          {"damaged_checkpoints", checkpoint.damaged},
          {"updated", state.updated}};
      log::say(json.dump(2));
      return Exit::done;
    }
    line("status", status + (status == "killed"     ? fmt::format(": process {} is gone", state.process)
                             : state.reason.empty() ? ""
                                                    : ": " + state.reason));
    line("last step",
         fmt::format("{} of {}, loss {:.4f}{}", state.step, state.steps, state.loss,
                     state.validation_loss > 0 ? fmt::format(", validation {:.4f}", state.validation_loss) : ""));
    if (state.step < state.steps)
      line("time left", fmt::format("{} at {:.3g} s a step", duration_text(left), state.seconds_per_step));
    line("checkpoint", checkpoint.step < 0 ? "none" : fmt::format("step {}, {}", checkpoint.step, file.string()));
    for (const auto& damaged : checkpoint.damaged) line("damaged", damaged);
    line("updated", duration_text(double(std::time(nullptr) - state.updated)) + " ago, by " + state.host);
    return Exit::done;
  }

  static void line(const char* name, const std::string& text) { log::say(fmt::format("{:<12}{}", name, text)); }

  std::string run_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> status_command() { return std::make_unique<Status>(); }

}  // namespace annulus::app
