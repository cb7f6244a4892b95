/// A run whose steps are told late, as on a GPU, beside one whose steps are over when they have been given out.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "program.hpp"

using namespace annulus::end_to_end;

namespace {

Outcome run(const Folder& folder, const std::string& arguments, const std::string& fault, int ranks = 1) {
  std::map<std::string, std::string> environment;
  if (!fault.empty()) environment["ANNULUS_FAULT"] = fault;
  return run_annulus(folder, arguments, ranks, environment, "annulus_faulty");
}

/// All of metrics.csv but times.
std::vector<std::vector<std::string>> told(const Folder& folder, const std::string& name) {
  std::vector<std::vector<std::string>> columns;
  for (const char* column_name : {"step", "loss", "lr", "grad_norm", "tokens", "validation_loss"})
    columns.push_back(column(folder.path() / "runs" / name / "metrics.csv", column_name));
  return columns;
}

nlohmann::json state(const Folder& folder, const std::string& name) {
  return nlohmann::json::parse(read(folder.path() / "runs" / name / "run.json"));
}

bool contains(const std::string& all, const std::string& part) { return all.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("late: a run that is told late leaves what any run leaves", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  const int ranks = GENERATE(1, 2);
  folder.write("deck.toml", small_deck({{"mesh.ring", std::to_string(ranks)},
                                        {"train.steps", "9"},
                                        {"train.tokens_per_step", "194"},
                                        {"checkpoint.every_steps", "4"},
                                        {"eval.every", "6"}}));
  REQUIRE(run(folder, "train deck.toml --set run.name=at-once", "", ranks).code == 0);
  const Outcome late = run(folder, "train deck.toml --set run.name=late", "late-numbers", ranks);
  INFO(late.error);
  REQUIRE(late.code == 0);
  // all steps but 4 and 8, 6, and 9: before a checkpoint, a validation and the end nothing is left untold
  CHECK(contains(late.error, "asked after the next step: 5"));
  CHECK(told(folder, "late") == told(folder, "at-once"));
  CHECK(state(folder, "late")["step"] == 9);
  CHECK(state(folder, "late")["loss"] == state(folder, "at-once")["loss"]);

  std::filesystem::create_directories(folder.path() / "runs/stopped");
  folder.write("runs/stopped/stop", "5");
  const Outcome stopped = run(folder, "train deck.toml --set run.name=stopped", "late-numbers", ranks);
  CHECK(stopped.code == 85);
  CHECK(state(folder, "stopped")["step"] == 5);
  CHECK(state(folder, "stopped")["checkpoint_step"] == 5);
  CHECK(run(folder, "resume deck.toml --set run.name=stopped", "late-numbers", ranks).code == 0);
  CHECK(told(folder, "stopped") == told(folder, "at-once"));
}

TEST_CASE("late: random delays of messages and of the work beside them change nothing", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  const std::string ring = GENERATE("2", "1"), dp = ring == "2" ? "1" : "2";
  const std::string compute = GENERATE("fp32", "bf16");
  CAPTURE(ring, compute);
  folder.write("deck.toml", small_deck({{"mesh.ring", ring},
                                        {"mesh.dp", dp},
                                        {"train.steps", "4"},
                                        {"train.tokens_per_step", "388"},
                                        {"precision.compute", "\"" + compute + "\""}}));
  REQUIRE(run(folder, "train deck.toml --set run.name=plain", "", 2).code == 0);
  const Outcome late = run(folder, "train deck.toml --set run.name=jitter --set debug.jitter=2000", "", 2);
  INFO(late.error);
  REQUIRE(late.code == 0);
  CHECK(told(folder, "jitter") == told(folder, "plain"));
}

TEST_CASE("late: a rank that falls silent ends the run, and the watchdog names what waits for it", "[end_to_end]") {
#ifdef ANNULUS_CUDA
  const std::string transport = GENERATE("mpi", "nccl");
#else
  const std::string transport = "mpi";
#endif
  CAPTURE(transport);
  const Folder folder;
  make_shards(folder);
  folder.write("deck.toml", small_deck({{"mesh.ring", "2"}}));
  const Outcome outcome = run_annulus(folder, "train deck.toml --set mesh.transport=" + transport, 2,
                                      {{"ANNULUS_FAULT", transport == "nccl" ? "absent-rank" : "silent-rank"},
                                       {"ANNULUS_WATCHDOG_SECONDS", "5"},
                                       {"NCCL_MULTI_RANK_GPU_ENABLE", "1"}},
                                      "annulus_faulty");
  INFO(outcome.error);
  CHECK(outcome.code == 70);
  CHECK(contains(outcome.error, "nothing has moved for 5 s in "));
  CHECK(contains(outcome.error, "over NCCL") == (transport == "nccl"));
}

TEST_CASE("late: a loss that is no number ends the run under the number of its step, before a checkpoint",
          "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  const std::string every = GENERATE("0", "1", "3"), fault = GENERATE("third-nan", "third-nan-late");
  CAPTURE(every, fault);
  folder.write("deck.toml", small_deck({{"checkpoint.every_steps", every}}));
  const Outcome outcome = run(folder, "train deck.toml", fault);
  INFO(outcome.error);
  CHECK(outcome.code == 4);
  CHECK(contains(outcome.error, "step 3: loss nan"));
  CHECK(contains(outcome.error,
                 every == "1" ? "the newest checkpoint is of step 2" : "the newest checkpoint is of step 0"));
  CHECK(column(folder.path() / "runs/small/metrics.csv", "step") == std::vector<std::string>{"1", "2"});
  CHECK(state(folder, "small")["status"] == "failed");
  CHECK(state(folder, "small")["step"] == 2);
  CHECK(state(folder, "small")["checkpoint_step"] == (every == "1" ? 2 : 0));
}
