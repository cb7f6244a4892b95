#include <catch2/catch_test_macros.hpp>

#include "program.hpp"

using namespace annulus::end_to_end;

TEST_CASE("quickstart's check of the loss passes with attention, and fails where attention gives zero",
          "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  folder.write("deck.toml", small_deck({{"mesh.ring", "2"},
                                        {"train.steps", "300"},
                                        {"train.micro_batch", "4"},
                                        {"schedule.peak", "0.01"},
                                        {"eval.windows", "20"}}));
  const auto gate = [&](const std::string& fault) {
    const std::map<std::string, std::string> environment = {{"ANNULUS_FAULT", fault}};
    const Outcome trained = run_annulus(folder, "train deck.toml", 2, environment, "annulus_faulty");
    REQUIRE(trained.code == 0);
    const Outcome outcome =
        run_annulus(folder, "eval deck.toml --bigram --margin 0.1", 2, environment, "annulus_faulty");
    INFO(outcome.out << outcome.error);
    std::filesystem::remove_all(folder.path() / "runs");
    return outcome;
  };
  const Outcome right = gate(""), wrong = gate("zero-attention");
  CAPTURE(right.out, wrong.out);
  CHECK(right.code == 0);
  CHECK(wrong.code == 4);
}
