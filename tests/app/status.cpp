#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/program_under_test.hpp"
#include "io/run_directory.hpp"
#include "io/scratch_folder.hpp"

using namespace annulus;
using namespace annulus::test;

namespace {

Outcome status(const ScratchFolder& folder, const char* options = "") {
  return test::program("status " + folder.path().string() + " " + options);
}

io::RunState state(const std::string& status, const std::string& reason, index_t step, index_t steps) {
  io::RunState made;
  made.status = status;
  made.reason = reason;
  made.step = step;
  made.steps = steps;
  return made;
}

bool has(const Outcome& outcome, const std::string& line) { return outcome.output.find(line) != std::string::npos; }

}  // namespace

TEST_CASE("status: how far a run is, and how long it has to go", "[app]") {
  const ScratchFolder folder;
  io::RunState running = state("running", "", 40, 100);
  running.seconds_per_step = 2;
  running.loss = 2.5;
  io::write_run_state({folder.path()}, running);
  const Outcome outcome = status(folder);
  CHECK(outcome.code == 0);
  CHECK(has(outcome, "status      running\n"));  // this process is alive
  CHECK(has(outcome, "last step   40 of 100, loss 2.5000\n"));
  CHECK(has(outcome, "time left   2 min 00 s at 2 s a step\n"));
  CHECK(has(outcome, "checkpoint  none\n"));
  const auto json = nlohmann::json::parse(status(folder, "--json").output);
  CHECK(json["seconds_left"] == 120);
  CHECK(json["checkpoint"].is_null());
}

TEST_CASE("status: why a run ended", "[app]") {
  const ScratchFolder folder;
  io::write_run_state({folder.path()}, state("stopped", "stop file", 40, 100));
  CHECK(has(status(folder), "status      stopped: stop file\n"));
  io::RunState done = state("done", "", 100, 100);
  done.validation_loss = 1.25;
  io::write_run_state({folder.path()}, done);
  CHECK(has(status(folder), "status      done\n"));
  CHECK(has(status(folder), "validation 1.2500\n"));
  CHECK_FALSE(has(status(folder), "time left"));
}

TEST_CASE("status: a run whose process is gone without a word was killed", "[app]") {
  const ScratchFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    io::write_run_state({folder.path()}, state("running", "", 4, 10));
    _exit(0);
  }
  int ended;
  waitpid(child, &ended, 0);
  CHECK(has(status(folder), "status      killed: process " + std::to_string(child) + " is gone\n"));
}

TEST_CASE("status: damaged checkpoints are named and passed over", "[app]") {
  const ScratchFolder folder;
  io::write_run_state({folder.path()}, state("stopped", "SIGTERM", 40, 100));
  std::filesystem::create_directories(folder / "checkpoints");
  put(folder / "checkpoints" / "step_000000040.h5", "nothing that HDF5 knows");
  const Outcome outcome = status(folder);
  CHECK(outcome.code == 0);
  CHECK(has(outcome, "checkpoint  none\n"));
  CHECK(has(outcome, "damaged     "));
  CHECK(has(outcome, "step_000000040.h5"));
}

TEST_CASE("status: what is no run is refused", "[app]") {
  const ScratchFolder folder;
  CHECK(status(folder).code == 2);
  put(folder / "run.json", "{");
  CHECK(status(folder).code == 2);
}
