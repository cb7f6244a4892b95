#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "program.hpp"

using namespace annulus::end_to_end;

TEST_CASE("verify: agrees with a right program, at every mesh", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  struct Mesh {
    int dp, ring;
  };
  const auto [dp, ring] = GENERATE(Mesh{1, 1}, Mesh{1, 2}, Mesh{2, 1}, Mesh{1, 3}, Mesh{2, 2});
  CAPTURE(dp, ring);
  folder.write("deck.toml", small_deck({{"mesh.dp", std::to_string(dp)}, {"mesh.ring", std::to_string(ring)}}));
  const Outcome outcome = run_annulus(folder, "verify deck.toml --steps 3", dp * ring, {}, "annulus_faulty");
  INFO(outcome.out << outcome.error);
  CHECK(outcome.code == 0);
}

TEST_CASE("verify: exits with 4 for each fault behind the seams", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  const int ranks = GENERATE(2, 3);
  const std::string fault =
      GENERATE("dkv-sign", "dropped-hop", "stale-rotator", "shifted-labels", "local-positions", "norm-over-copies");
  CAPTURE(ranks, fault);
  folder.write("deck.toml", small_deck({{"mesh.ring", std::to_string(ranks)}}));
  const Outcome outcome =
      run_annulus(folder, "verify deck.toml --steps 3", ranks, {{"ANNULUS_FAULT", fault}}, "annulus_faulty");
  INFO(outcome.out << outcome.error);
  CHECK(outcome.code == 4);
}

TEST_CASE("verify: holds a mesh in bf16 to fp64's gradients, and exits with 4 for each fault", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  folder.write("deck.toml", small_deck({{"mesh.ring", "2"}, {"precision.compute", "\"bf16\""}}));
  const std::string fault =
      GENERATE("", "dkv-sign", "dropped-hop", "stale-rotator", "shifted-labels", "local-positions", "norm-over-copies");
  CAPTURE(fault);
  const Outcome outcome =
      run_annulus(folder, "verify deck.toml --deck-precision", 2, {{"ANNULUS_FAULT", fault}}, "annulus_faulty");
  INFO(outcome.out << outcome.error);
  CHECK(outcome.code == (fault.empty() ? 0 : 4));
}
