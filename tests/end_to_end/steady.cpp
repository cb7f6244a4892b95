/// Steps of a training run on a GPU, as CUDA's runtime sees them.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/device_memory.hpp"
#include "program.hpp"
#include "support/places.hpp"

using namespace annulus::end_to_end;

namespace {

struct Calls {
  long calls = 0, bytes = 0;
};
using Step = std::map<std::string, Calls>;

using Environment = std::map<std::string, std::string>;

/// Ten steps of the quickstart's model, watched. After the last come a validation and a checkpoint.
void train(const Folder& folder, const std::string& compute, int micro_batches, const std::string& fault,
           Environment environment, int ranks = 1) {
  if (!fault.empty()) environment["ANNULUS_FAULT"] = fault;
  std::string command = "train " + annulus::test::source_path("inputs/quickstart.toml");
  for (const std::string setting :
       {"data.train=data", "data.validation=data", "train.steps=10", "schedule.warmup=2", "schedule.decay_steps=2",
        "checkpoint.every_steps=0", "checkpoint.every_minutes=0", "eval.every=0", "eval.windows=2"})
    command += " --set " + setting;
  command += " --set precision.compute=" + compute + " --set mesh.ring=" + std::to_string(ranks);
  command += " --set train.tokens_per_step=" + std::to_string(2048 * micro_batches);
  const Outcome outcome = run_annulus(folder, command, ranks, environment, "annulus_faulty");
  INFO(outcome.out << outcome.error);
  REQUIRE(outcome.code == 0);
  std::filesystem::remove_all(folder.path() / "runs");
}

std::vector<Step> read_steps(const std::filesystem::path& file) {
  std::vector<Step> steps;
  std::ifstream lines(file);
  std::size_t step;
  Calls calls;
  for (std::string what; lines >> step >> what >> calls.calls >> calls.bytes;) {
    steps.resize(std::max(steps.size(), step + 1));
    steps[step][what] = calls;
  }
  REQUIRE(steps.size() == 11);
  return steps;
}

/// Steps of one rank as a library in front of the runtime sees them; 0: what came before the first.
std::vector<Step> steps_of(const Folder& folder, const std::string& compute, int micro_batches,
                           const std::string& fault = "") {
  const std::filesystem::path file = folder.path() / "calls";
  const std::string library = annulus::test::program_path("libannulus_count_runtime_calls.so");
  train(folder, compute, micro_batches, fault,
        {{"LD_PRELOAD", library}, {"KOKKOS_TOOLS_LIBS", library}, {"ANNULUS_RUNTIME_CALLS", file.string()}});
  return read_steps(file);
}

/// And as the driver does, each rank's, with what cuBLASLt and NCCL ask of it.
std::vector<std::vector<Step>> driver_steps_of(const Folder& folder, int ranks, const std::string& fault = "") {
  const std::filesystem::path file = folder.path() / "driver";
  train(folder, "bf16", 2, fault,
        {{"KOKKOS_TOOLS_LIBS", annulus::test::program_path("libannulus_count_driver_calls.so")},
         {"ANNULUS_DRIVER_CALLS", file.string()}},
        ranks);
  std::vector<std::vector<Step>> steps;
  for (int rank = 0; rank < ranks; ++rank) steps.push_back(read_steps(file.string() + "." + std::to_string(rank)));
  return steps;
}

constexpr const char* nothing_of[] = {"malloc", "free",    "blocking_copy", "blocking_set",  "pageable_copy",
                                      "create", "destroy", "synchronise",   "default_stream"};

/// What libraries do in steps 3 to 8 and should not, one word each.
std::string faults_of_libraries(const std::vector<Step>& steps) {
  std::string found;
  for (int n = 3; n <= 8; ++n) {
    Step step = steps[n];
    for (const char* never : nothing_of)
      if (step[never].calls > 0) found += "step " + std::to_string(n) + ": " + never + "\n";
    if (step["wait_for_event"].calls > 1) found += "step " + std::to_string(n) + ": wait_for_event\n";
    if (step["launch"].calls == 0) found += "step " + std::to_string(n) + ": no launch\n";
  }
  return found;
}

/// What is wrong with steps 3 to 8, one word each; empty where they are steady.
std::string faults(const std::vector<Step>& steps, int micro_batches) {
  std::string found;
  const auto require = [&](bool holds, int step, const std::string& what) {
    if (!holds && found.find(" " + what + "\n") == std::string::npos)
      found += "step " + std::to_string(step) + ": " + what + "\n";
  };
  for (int n = 3; n <= 8; ++n) {
    Step step = steps[n];
    for (const char* never : nothing_of) require(step[never].calls == 0, n, never);
    require(step["wait_for_event"].calls <= 1, n, "wait_for_event");  // for the numbers of the step before
    require(step["upload"].calls == micro_batches, n, "upload");
    require(step["download"].calls == 1 && step["download"].bytes <= 256, n, "download");
    require(step["kernel"].calls > 0 && step["launch"].calls == step["kernel"].calls, n, "launch");
  }
  return found;
}

}  // namespace

TEST_CASE("steady: steps 3 to 8 neither allocate nor wait, and copy one batch in and one line of numbers out",
          "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  const std::string compute = GENERATE("fp32", "bf16");
  const int micro_batches = GENERATE(1, 2);
  CAPTURE(compute, micro_batches);
  const auto steps = steps_of(folder, compute, micro_batches);
  for (int n = 3; n <= 8; ++n)
    for (const auto& [what, calls] : steps[n])
      UNSCOPED_INFO(n << " " << what << " " << calls.calls << " " << calls.bytes);
  CHECK(faults(steps, micro_batches) == "");
}

TEST_CASE("steady: libraries ask nothing of the driver that a step must not", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  const auto of_ranks = driver_steps_of(folder, 1);
  for (const auto& steps : of_ranks) {
    for (int n = 3; n <= 8; ++n)
      for (const auto& [what, calls] : steps[n]) UNSCOPED_INFO(n << " " << what << " " << calls.calls);
    CHECK(faults_of_libraries(steps) == "");
  }
}

TEST_CASE("steady: what a library asks of the driver is seen", "[end_to_end]") {
  const std::string fault = GENERATE("malloc", "free", "blocking-copy", "device-wait", "default-stream");
  CAPTURE(fault);
  const Folder folder;
  make_shards(folder);
  std::string seen = fault == "device-wait" ? "synchronise" : fault;
  std::replace(seen.begin(), seen.end(), '-', '_');
  CHECK(faults_of_libraries(driver_steps_of(folder, 1, fault)[0]).find(": " + seen + "\n") != std::string::npos);
}

TEST_CASE("steady: the device has in use what the plan says, libraries included", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  const std::string compute = GENERATE("fp32", "bf16");
  const bool stray = GENERATE(false, true);
  CAPTURE(compute, stray);
  folder.write("deck.toml", small_deck({{"precision.compute", "\"" + compute + "\""},
                                        {"model.width", "1024"},
                                        {"model.layers", "8"},
                                        {"model.ffn", "2816"},
                                        {"model.heads", "16"},
                                        {"model.kv_heads", "4"},
                                        {"model.head_dim", "64"},
                                        {"data.sequence_length", "2048"},
                                        {"train.steps", "3"}}));
  std::map<std::string, std::string> environment;
  if (stray) environment["ANNULUS_FAULT"] = "gigabyte";
  const auto before = annulus::device_memory();  // this process has a context too
  REQUIRE(before.has_value());
  const Outcome trained = run_annulus(folder, "train deck.toml", 1, environment, "annulus_faulty");
  const Outcome planned = run_annulus(folder, "plan deck.toml --json");
  INFO(trained.out << trained.error << planned.error);
  REQUIRE(trained.code == 0);
  REQUIRE(planned.code == 0);
  const auto plan = nlohmann::json::parse(planned.out);
  const double expected = plan["total"].get<double>() + plan["libraries"].get<double>();
  const std::string words = " of libraries; unplanned ";
  const double unplanned =
      std::stod(trained.out.substr(trained.out.find(words) + words.size())) - static_cast<double>(before->used);
  UNSCOPED_INFO("planned " << expected << " bytes, " << unplanned << " more in use");
  CHECK((std::abs(unplanned) <= std::max(0.03 * expected, 256.0 * 1024 * 1024)) != stray);
}

TEST_CASE("steady: each thing that a step must not do is seen", "[end_to_end]") {
  struct Seeded {
    std::string fault, seen_as;
  };
  const auto seeded = GENERATE(Seeded{"malloc", "malloc"}, Seeded{"pinned-malloc", "malloc"}, Seeded{"free", "free"},
                               Seeded{"blocking-copy", "blocking_copy"}, Seeded{"blocking-set", "blocking_set"},
                               Seeded{"pageable-copy", "pageable_copy"}, Seeded{"device-wait", "synchronise"},
                               Seeded{"stream-wait", "synchronise"}, Seeded{"event-wait", "wait_for_event"},
                               Seeded{"event-created", "create"}, Seeded{"default-stream", "default_stream"},
                               Seeded{"second-upload", "upload"}, Seeded{"second-download", "download"},
                               Seeded{"unseen-launch", "launch"});
  CAPTURE(seeded.fault);
  const Folder folder;
  make_shards(folder);
  CHECK(faults(steps_of(folder, "fp32", 1, seeded.fault), 1).find(": " + seeded.seen_as + "\n") != std::string::npos);
}
