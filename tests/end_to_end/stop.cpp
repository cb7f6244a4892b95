#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "program.hpp"
#include "support/places.hpp"

using namespace annulus::end_to_end;
using annulus::test::program_path;

namespace {

/// A rank that trains below `folder`, not its launcher; 0 where there is none.
pid_t rank_of(const Folder& folder) {
  const std::string arguments = program_path("annulus") + " train " + folder.path().string();
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::string command = read(entry.path() / "cmdline");
    std::replace(command.begin(), command.end(), '\0', ' ');
    if (command.starts_with(arguments)) return std::stoi(entry.path().filename());
  }
  return 0;
}

/// Trains in the background until `steps` steps are in metrics.csv, then sends `signal` to the ranks.
Outcome signalled(const Folder& folder, int signal, int ranks) {
  const auto metrics = folder.path() / "runs/small/metrics.csv";
  std::thread sender([&] {
    for (int tries = 0; tries < 600; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (std::filesystem::exists(metrics) && column(metrics, "loss").size() >= 2) break;
    }
    // one rank is enough: all agree
    if (const pid_t rank = rank_of(folder)) kill(rank, signal);
  });
  const Outcome outcome = run_annulus(folder, "train " + folder.path().string() + "/deck.toml", ranks);
  sender.join();
  return outcome;
}

}  // namespace

TEST_CASE("stop: a signal to any rank ends the run with 85, a checkpoint and the reason", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  for (const auto& [name, signal] : {std::pair{"SIGTERM", SIGTERM}, {"SIGUSR1", SIGUSR1}}) {
    CAPTURE(name);
    folder.write("deck.toml", small_deck({{"mesh.ring", "2"}, {"train.steps", "100000"}}));
    const Outcome outcome = signalled(folder, signal, 2);
    INFO(outcome.error);
    CHECK(outcome.code == 85);
    const auto state = nlohmann::json::parse(read(folder.path() / "runs/small/run.json"));
    CHECK(state["status"] == "stopped");
    CHECK(state["reason"] == name);
    CHECK(state["checkpoint_step"] == state["step"]);
    const Outcome status = run_annulus(folder, "status runs/small");
    CHECK(status.code == 0);
    CHECK(status.out.find(name) != std::string::npos);
    std::filesystem::remove_all(folder.path() / "runs");
  }
}

TEST_CASE("stop: the wall clock of the deck ends the run", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  folder.write("deck.toml", small_deck({{"train.steps", "1000000"}, {"run.wall_minutes", "0.02"}}));
  const Outcome outcome = run_annulus(folder, "train deck.toml", 1);
  CHECK(outcome.code == 85);
  CHECK(nlohmann::json::parse(read(folder.path() / "runs/small/run.json"))["reason"] == "wall clock");
}

TEST_CASE("stop: an empty stop file stops at once, and is taken away", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  std::filesystem::create_directories(folder.path() / "runs/small");
  folder.write("runs/small/stop", "");
  folder.write("deck.toml", small_deck());
  CHECK(run_annulus(folder, "train deck.toml", 1).code == 85);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "runs/small/stop"));
  CHECK(run_annulus(folder, "resume deck.toml", 1).code == 0);
}
