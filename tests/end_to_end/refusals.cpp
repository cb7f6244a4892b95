#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <fstream>

#include "program.hpp"

using namespace annulus::end_to_end;

namespace {

/// Exit code 2 (or another), and one sentence that names what was wrong.
void refused(const Outcome& outcome, const std::string& naming, int code = 2) {
  CAPTURE(outcome.out, outcome.error, naming);
  CHECK(outcome.code == code);
  CHECK(outcome.error.find(naming) != std::string::npos);
  CHECK(outcome.error.find("terminate called") == std::string::npos);
}

std::filesystem::path a_shard(const Folder& folder) { return folder.path() / "data/train_shard_00000.bin"; }

}  // namespace

TEST_CASE("refusals: decks that cannot be", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  const auto train = [&](const std::map<std::string, std::string>& settings, int ranks = 1) {
    folder.write("deck.toml", small_deck(settings));
    const Outcome outcome = run_annulus(folder, "train deck.toml", ranks);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "runs"));  // nothing was begun
    return outcome;
  };
  refused(train({{"model.kv_heads", "3"}}), "kv_heads");
  refused(train({{"model.heads", "0"}}), "deck.toml:");
  refused(train({{"train.stepz", "3"}}), "steps");
  refused(train({{"mesh.ring", "2"}}), "2");
  refused(train({{"mesh.ring", "2"}}, 3), "3");
  refused(train({{"train.tokens_per_step", "100"}}), "97");
  refused(train({{"data.train", "\"nowhere\""}}), "nowhere");
  refused(train({{"attention.kernel", "\"sm90\""}}), "sm90");
  folder.write("deck.toml", "[model\nlayers = 2\n");
  refused(run_annulus(folder, "train deck.toml", 1), "deck.toml:1");
  refused(run_annulus(folder, "train missing.toml", 1), "missing.toml");
  refused(run_annulus(folder, "trian deck.toml"), "train");
}

TEST_CASE("refusals: shards that cannot be", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  folder.write("deck.toml", small_deck());
  const std::string good = read(a_shard(folder));
  const auto with = [&](const std::string& bytes) {
    std::ofstream(a_shard(folder), std::ios::binary) << bytes;
    return run_annulus(folder, "train deck.toml", 1);
  };
  refused(with(good.substr(0, good.size() - 7)), "train_shard_00000.bin");
  refused(with("not a shard"), "train_shard_00000.bin");
  std::filesystem::remove(a_shard(folder));
  refused(run_annulus(folder, "train deck.toml", 1), "data");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "runs/small"));
  std::string foreign = good;
  for (std::size_t at = 1024 + 1; at < foreign.size(); at += 2 * 90) foreign[at] = '\x7f';  // ids of 32,000 and more
  refused(with(foreign), "train_shard_00000.bin");
}

TEST_CASE("refusals: a directory that cannot be written", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  folder.write("runs", "a file where the directory should be");
  folder.write("deck.toml", small_deck());
  refused(run_annulus(folder, "train deck.toml", 1), "runs");
  refused(run_annulus(folder, "check deck.toml --inputs"), "runs");
}

TEST_CASE("refusals: texts without a token", "[end_to_end]") {
  const Folder folder;
  folder.write("empty.txt", "");
  refused(run_annulus(folder, "tokenize empty.txt --out data"), "no text");
  refused(run_annulus(folder, "tokenize nowhere.txt --out data"), "nowhere.txt");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "data/train_shard_00000.bin"));
}

TEST_CASE("refusals: a launcher of another MPI", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  folder.write("deck.toml", small_deck());
  refused(run_annulus(folder, "train deck.toml", 0, {{"OMPI_COMM_WORLD_SIZE", "2"}}), "OMPI_COMM_WORLD_SIZE");
  refused(run_annulus(folder, "train deck.toml", 0, {{"SLURM_STEP_NUM_TASKS", "4"}}), "SLURM_STEP_NUM_TASKS");
}

TEST_CASE("a sequence shorter than the ranks is trained, not refused", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  folder.write("deck.toml", small_deck({{"mesh.ring", "4"}, {"data.sequence_length", "3"}, {"train.steps", "2"}}));
  const Outcome outcome = run_annulus(folder, "train deck.toml", 4);
  INFO(outcome.error);
  CHECK(outcome.code == 0);
}
