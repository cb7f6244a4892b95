#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/program_under_test.hpp"
#include "io/scratch_folder.hpp"

using namespace annulus::test;
using nlohmann::json;

TEST_CASE("tokenize, inspect: a text comes back from its shards", "[app]") {
  const ScratchFolder folder;
  const std::string shards = (folder / "shards").string();
  put(folder / "a.txt", std::string(20'000, 'a') + "\n");
  put(folder / "b.txt", std::string(20'000, 'b') + "\n");
  const Outcome made = program("tokenize " + (folder / "a.txt").string() + " " + (folder / "b.txt").string() + " -o " +
                               shards + " --validation 0.2 --json");
  REQUIRE(made.code == 0);
  const json summary = json::parse(made.output);
  CHECK(summary["files"] == 2);
  CHECK(summary["bytes"] == 40'002);
  CHECK(summary["validation"]["tokens"] > 4'000);

  const std::string shard = shards + "/train_shard_00000.bin";
  const json header = json::parse(program("inspect " + shard + " --json").output);
  CHECK(header["tokens"] == summary["train"]["tokens"]);
  CHECK(header["tokenizer"] == "byte");
  CHECK(program("inspect " + shard + " --text 5").output == "aaaaa\n");
  CHECK(program("inspect " + shard).output.find("tokens                ") == 0);
}

TEST_CASE("tokenize: refuses what is no text to train on, and folders in use", "[app]") {
  const ScratchFolder folder;
  put(folder / "empty.txt", "");
  put(folder / "text.txt", std::string(20'000, 'x'));
  const auto tokenize = [&](const char* file, const char* options) {
    return program("tokenize " + (folder / file).string() + " -o " + (folder / "out").string() + " " + options);
  };
  CHECK(tokenize("empty.txt", "").code == 2);
  CHECK(tokenize("missing.txt", "").code == 2);
  CHECK(tokenize("text.txt", "--tokenizer bpe").code == 2);
  CHECK(tokenize("text.txt", "--validation 0.9").code == 2);
  CHECK(tokenize("text.txt", "--shard-tokens 0").code == 2);
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
  CHECK(tokenize("text.txt", "").code == 0);
  CHECK(tokenize("text.txt", "").code == 2);
}

TEST_CASE("bench tokenize: a row for one thread and for two, and nothing without a text", "[app]") {
  const ScratchFolder folder;
  const std::string text = put(folder / "text.txt", std::string(20'000, 'x')).string();
  const json bench = json::parse(program("bench tokenize --json --text " + text).output);
  REQUIRE(bench["rows"].size() == 2);
  for (const auto& row : bench["rows"]) {
    CHECK((row["name"] == "text.txt" && row["type"] == "byte" && row["unit"] == "MB/s"));
    CHECK(row["rate"] > 1);
  }
  CHECK(bench["rows"][1]["shape"] == "2 threads");
  CHECK(program("bench tokenize").code == 2);
  CHECK(program("bench tokenize --text " + (folder / "missing").string()).code == 2);
}

TEST_CASE("inspect: refuses what it does not know", "[app]") {
  const ScratchFolder folder;
  const std::string text = put(folder / "text.txt", "no shard").string();
  const std::string damaged = put(folder / "damaged.h5", "\x89HDF\r\n\x1a\n and then nothing").string();
  CHECK(program("inspect " + text).code == 2);
  CHECK(program("inspect " + (folder / "missing").string()).code == 2);
  CHECK(program("inspect " + text + " --deck").code == 2);
  CHECK(program("inspect " + damaged).code == 3);
  CHECK(program("inspect " + damaged + " --text 3").code == 2);
}

TEST_CASE("plan: says what a run of a deck would take, by buffers that add up", "[app]") {
  const Outcome outcome = program("plan " + deck("llama-114m") + " --json");
  REQUIRE(outcome.code == 0);
  const json plan = json::parse(outcome.output);
  CHECK(plan["mesh"]["ring"] == 2);
  CHECK(plan["parameters"] > 110'000'000);
  CHECK(plan["parameters"] < 118'000'000);
  long total = 0;
  for (const auto& allocation : plan["allocations"]) total += allocation["bytes"].get<long>();
  CHECK(plan["total"] == total);
  // three arenas of fp32 shards, and whole weights, cannot be smaller than this
  CHECK(total > 4 * plan["parameters"].get<long>());
  const auto& rows = plan["rows"];
  for (const auto& row : rows) CHECK(row["bytes"] >= 0);
  CHECK(rows.size() > 20);
  CHECK(program("plan " + deck("llama-114m")).output.find(std::to_string(total)) != std::string::npos);
}

TEST_CASE("plan: more ranks of a ring take less each", "[app]") {
  const auto total = [](const char* options) {
    return json::parse(program("plan " + deck("llama-114m") + " --json " + options).output)["total"].get<long>();
  };
  CHECK(total("--set mesh.ring=8") < total("--set mesh.ring=4"));
  CHECK(total("--set mesh.ring=4") < total("--set mesh.ring=2"));
}

TEST_CASE("plan: asks for a vocabulary where there are no data", "[app]") {
  const Outcome outcome = program("plan " + deck("llama-tiny") + " --set data.train=nowhere");
  CHECK(outcome.code == 2);
  CHECK(outcome.output.find("to plan without data, set model.vocabulary") != std::string::npos);
  CHECK(program("plan " + deck("llama-tiny") + " --set model.vocabulary=257").code == 0);
}
