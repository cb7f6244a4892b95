#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <csignal>
#include <random>

#include "comm/self_communicator.hpp"
#include "core/error.hpp"
#include "io/checkpoint.hpp"
#include "io/checkpoint_folder.hpp"
#include "io/fake_model.hpp"
#include "io/scratch_folder.hpp"
#include "support/places.hpp"

using namespace annulus;
using namespace annulus::io;
using namespace annulus::test;

namespace {

/// Lets the writer go on from `first`, kills it after it has reported `reports` steps and `microseconds` more, and
/// returns the last step that it reported.
index_t last_reported(const std::string& run, index_t first, int reports, int microseconds) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    const std::string writer = program_path("checkpoint_writer");
    execl(writer.c_str(), writer.c_str(), run.c_str(), std::to_string(first).c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  FILE* const out = fdopen(ends[0], "r");
  long long step = -1;
  for (int r = 0; r < reports; ++r)
    if (std::fscanf(out, "%lld", &step) != 1) break;
  usleep(microseconds);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  while (std::fscanf(out, "%lld", &step) == 1) continue;
  std::fclose(out);
  return step;
}

}  // namespace

TEST_CASE("checkpoint: killed at any moment, a run loses nothing that it has reported", "[io]") {
  const ScratchFolder folder;
  const auto self = comm::self_communicator("world");
  std::mt19937 random(20231001);
  index_t next = 0;
  int half_written = 0;
  for (int kill = 0; kill < 20; ++kill) {
    const index_t reported = last_reported(folder.path(), next, 2, static_cast<int>(random() % 8000));
    REQUIRE(reported > next);
    FakeModel model(1, 0);
    std::optional<CheckpointInfo> info;
    CHECK(stderr_of([&] { info = resume_newest(folder.path(), model, *self); }).empty());  // nothing was damaged
    REQUIRE(info);
    const index_t step = info->counters.step;
    CHECK((step == reported || step == reported + 1));  // killed between renaming and reporting
    CHECK(model.holds(step));
    half_written += std::filesystem::exists(partial_path(checkpoint_path(folder.path(), step + 1)));
    next = step + 1;
  }
  CHECK(half_written > 0);  // else the kills came at no interesting moment
}

TEST_CASE("checkpoint: a flipped bit anywhere in the file is refused, or changes nothing", "[io]") {
  const ScratchFolder folder;
  const auto self = comm::self_communicator("world");
  CheckpointInfo info;
  info.counters = {.step = 3, .sample = 24, .tokens = 1 << 20, .seed = 99, .best_validation = 1.5};
  info.deck = "[run]\n";
  FakeModel model(1, 0);
  write_checkpoint(folder.path(), model.fill(3), info, 1, *self);
  const auto path = checkpoint_path(folder.path(), 3);
  const std::string whole = content(path);
  std::mt19937 random(7);
  int refused = 0;
  for (int flip = 0; flip < 400; ++flip) {
    std::string damaged = whole;
    // Every other flip hits the beginning, where the descriptions are dense.
    damaged[random() % (flip % 2 == 0 ? whole.size() : 8192)] ^= static_cast<char>(1 << random() % 8);
    put(path, damaged);
    FakeModel found(1, 0);
    try {
      const auto read = read_checkpoint(path, found, *self);
      CHECK(found.holds(3));
      const Counters &a = read.counters, &b = info.counters;
      CHECK((a.step == b.step && a.sample == b.sample && a.tokens == b.tokens && a.seed == b.seed));
      CHECK((a.best_validation == b.best_validation && read.deck == info.deck));
    } catch (const BadCheckpoint&) {
      ++refused;
    }
  }
  CHECK(refused > 200);
}
