#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "app/program_under_test.hpp"
#include "io/small_vocabulary.hpp"

using namespace annulus::test;

namespace {

/// A text of 80 KB, tokenized, and options that make the tiny deck use it.
struct Prepared {
  ScratchFolder folder;
  std::string options;
  Prepared() {
    std::string text;
    for (int n = 0; n < 4000; ++n) text += "line " + std::to_string(n * n) + "\n";
    put(folder / "text.txt", text);
    const Outcome made = program("tokenize " + (folder / "text.txt").string() + " -o " + shards());
    CHECK(made.code == 0);
    options = deck("llama-tiny") + " --inputs --set data.train=" + shards() + " --set data.validation=" + shards() +
              " --set run.directory=" + (folder / "runs").string();
  }
  std::string shards() const { return (folder / "shards").string(); }
};

}  // namespace

TEST_CASE("check: every deck that comes with the program can be used", "[app]") {
  const char* name = GENERATE("quickstart", "llama-tiny", "llama-114m", "bluscript-0.5b");
  const Outcome outcome = program("check " + deck(name));
  CHECK(outcome.code == 0);
  CHECK(outcome.output.find(" can be used: ") != std::string::npos);
}

TEST_CASE("check: --resolved says where each value came from", "[app]") {
  const std::string output = program("check " + deck("llama-tiny") + " --resolved --set train.steps=70").output;
  CHECK(output.find("train.steps               70            --set\n") != std::string::npos);
  CHECK(output.find("model.qk_norm             true          default\n") != std::string::npos);
  CHECK(output.find("llama-tiny.toml:7\n") != std::string::npos);
}

TEST_CASE("check: --inputs accepts what a run can use, and leaves nothing behind", "[app]") {
  const Prepared prepared;
  const Outcome outcome = program("check " + prepared.options);
  CHECK(outcome.output.find("all inputs there") != std::string::npos);
  CHECK(outcome.code == 0);
  CHECK_FALSE(std::filesystem::exists(prepared.folder / "runs"));
  CHECK(std::distance(std::filesystem::directory_iterator(prepared.folder.path()), {}) == 2);  // text.txt and shards
}

TEST_CASE("check: --inputs lists everything that a run cannot use", "[app]") {
  const Prepared prepared;
  const Outcome outcome = program("check " + prepared.options +
                                  " --set data.train=nowhere --set data.validation=neither --set run.directory=" +
                                  (prepared.folder / "text.txt").string());
  CHECK(outcome.code == 2);
  for (const char* part : {"3 of the run's inputs cannot be used", "data.train: cannot read nowhere",
                           "data.validation: cannot read neither", "run.directory: "})
    CHECK(outcome.output.find(part) != std::string::npos);
}

TEST_CASE("check: --inputs refuses data of two tokenizers", "[app]") {
  const Prepared prepared;
  const std::string vocabulary = put(prepared.folder / "vocabulary.json", tokenizer_json().dump()).string();
  const std::string other = (prepared.folder / "other").string();
  REQUIRE(
      program("tokenize " + (prepared.folder / "text.txt").string() + " -o " + other + " --tokenizer hf:" + vocabulary)
          .code == 0);
  const Outcome outcome = program("check " + prepared.options + " --set data.validation=" + other);
  CHECK(outcome.code == 2);
  CHECK(outcome.output.find("data.validation: two tokenizers are mixed: data.train has that of byte (257 ids") !=
        std::string::npos);
  CHECK(program("inspect " + other + "/train_shard_00000.bin --text 9").output == "line 0\nli\n");
  std::filesystem::rename(vocabulary, vocabulary + ".moved");
  const Outcome moved = program("inspect " + other + "/train_shard_00000.bin --text 9");
  CHECK(moved.code == 2);
  CHECK(moved.output.find("--tokenizer says where it lies") != std::string::npos);
  CHECK(program("inspect " + other + "/train_shard_00000.bin --text 9 --tokenizer hf:" + vocabulary + ".moved").code ==
        0);
}

TEST_CASE("check: --inputs sees a directory that cannot be written", "[app]") {
  const Prepared prepared;
  const Outcome outcome = program("check " + prepared.options + " --set run.directory=/proc/runs");
  CHECK(outcome.code == 2);
  CHECK(outcome.output.find("run.directory: /proc/runs/llama-tiny cannot be made: /proc cannot be written") !=
        std::string::npos);
}

TEST_CASE("check: --inputs sees damaged and missing shards, large ids and short data", "[app]") {
  const Prepared prepared;
  const std::string shard = prepared.shards() + "/train_shard_00000.bin";
  SECTION("a truncated shard") {
    std::filesystem::resize_file(shard, std::filesystem::file_size(shard) - 1);
    const Outcome outcome = program("check " + prepared.options);
    CHECK(outcome.code == 2);
    CHECK(outcome.output.find("train_shard_00000.bin") != std::string::npos);
  }
  SECTION("a missing shard") {
    std::filesystem::remove(shard);
    CHECK(program("check " + prepared.options).code == 2);
  }
  SECTION("an id above the vocabulary, at the very end") {
    std::fstream file(shard, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-2, std::ios::end);
    file.write("\xff\xff", 2);
    file.close();
    const Outcome outcome = program("check " + prepared.options);
    CHECK(outcome.code == 2);
    CHECK(outcome.output.find("65535") != std::string::npos);
  }
  SECTION("a vocabulary of the model that is too small") {
    const Outcome outcome = program("check " + prepared.options + " --set model.vocabulary=200");
    CHECK(outcome.code == 2);
    CHECK(outcome.output.find("model.vocabulary = 200 is below the ") != std::string::npos);
  }
  SECTION("too few tokens for one sequence") {
    const Outcome outcome = program("check " + prepared.options + " --set data.sequence_length=1000000");
    CHECK(outcome.code == 2);
    CHECK(outcome.output.find("1000000") != std::string::npos);
  }
}
