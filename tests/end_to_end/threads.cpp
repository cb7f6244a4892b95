#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "program.hpp"

using namespace annulus::end_to_end;

TEST_CASE("threads: a run is the same bits with 1, 2 and 3 of them", "[end_to_end]") {
  // in processes of their own: a library may choose a product's kernel, once, for the threads that it finds at first.
  // Weight gradients are sums over all tokens of small outputs, which libraries like to split among threads.
  const Folder folder;
  make_shards(folder);
  folder.write("deck.toml", small_deck({{"model.width", "64"},
                                        {"model.head_dim", "16"},
                                        {"model.ffn", "64"},
                                        {"data.sequence_length", "4096"},
                                        {"train.steps", "3"},
                                        {"schedule.warmup", "1"},
                                        {"precision.compute", GENERATE("\"fp32\"", "\"bf16\"")}}));
  std::vector<std::string> loss, norm;
  for (const std::string threads : {"1", "2", "3"}) {
    CAPTURE(threads);
    const Outcome outcome =
        run_annulus(folder, "train deck.toml --set run.name=with" + threads, 1, {{"OMP_NUM_THREADS", threads}});
    INFO(outcome.error);
    REQUIRE(outcome.code == 0);
    REQUIRE(outcome.out.find("OpenMP, " + threads + " thread") != std::string::npos);
    const auto metrics = folder.path() / "runs" / ("with" + threads) / "metrics.csv";
    if (threads == "1") {
      loss = column(metrics, "loss");
      norm = column(metrics, "grad_norm");
      REQUIRE(loss.size() == 3);
    }
    CHECK(column(metrics, "loss") == loss);
    CHECK(column(metrics, "grad_norm") == norm);
  }
}
