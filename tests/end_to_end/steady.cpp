/// Steps of a training run on a GPU, as CUDA's runtime sees them.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fstream>

#include "program.hpp"
#include "support/places.hpp"

using namespace annulus::end_to_end;

namespace {

struct Calls {
  long calls = 0, bytes = 0;
};
using Step = std::map<std::string, Calls>;

/// The steps of a run, 0: what came before the first. Ten steps: the last is followed by a validation and a checkpoint.
std::vector<Step> steps_of(const Folder& folder, const std::string& fault) {
  const auto file = folder.path() / "calls", library = annulus::test::program_path("libannulus_count_runtime_calls.so");
  std::map<std::string, std::string> environment = {
      {"LD_PRELOAD", library}, {"KOKKOS_TOOLS_LIBS", library}, {"ANNULUS_RUNTIME_CALLS", file.string()}};
  if (!fault.empty()) environment["ANNULUS_FAULT"] = fault;
  const Outcome outcome = run_annulus(folder, "train deck.toml", 1, environment, "annulus_faulty");
  INFO(outcome.out << outcome.error);
  REQUIRE(outcome.code == 0);
  std::filesystem::remove_all(folder.path() / "runs");

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

void write_deck(const Folder& folder, const std::string& compute, int micro_batches) {
  folder.write("deck.toml", small_deck({{"precision.compute", "\"" + compute + "\""},
                                        {"train.steps", "10"},
                                        {"train.tokens_per_step", std::to_string(micro_batches * 97)},
                                        {"checkpoint.every_steps", "0"},
                                        {"checkpoint.every_minutes", "0"},
                                        {"eval.every", "0"}}));
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
    for (const char* never : {"malloc", "free", "blocking_copy", "blocking_set", "pageable_copy", "synchronise",
                              "create", "destroy", "default_stream"})
      require(step[never].calls == 0, n, never);
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
  write_deck(folder, compute, micro_batches);
  const auto steps = steps_of(folder, "");
  for (int n = 3; n <= 8; ++n)
    for (const auto& [what, calls] : steps[n])
      UNSCOPED_INFO(n << " " << what << " " << calls.calls << " " << calls.bytes);
  CHECK(faults(steps, micro_batches) == "");
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
  write_deck(folder, "fp32", 1);
  CHECK(faults(steps_of(folder, seeded.fault), 1).find(": " + seeded.seen_as + "\n") != std::string::npos);
}
