#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "program.hpp"
#include "support/places.hpp"

using namespace annulus::end_to_end;

namespace {

/// What each rank of a training run allocated through Kokkos, by label; apart from Kokkos's own and, where messages of
/// a GPU pass through the host, the communicators'.
struct Allocations {
  std::map<std::string, long long> ours;
  std::map<std::string, long long> others;
};

std::vector<Allocations> counted(const Folder& folder, int ranks, const std::string& fault = "") {
  std::map<std::string, std::string> environment = {
      {"KOKKOS_TOOLS_LIBS", annulus::test::program_path("libannulus_count_allocations.so")},
      {"ANNULUS_ALLOCATIONS", (folder.path() / "allocations").string()}};
  if (!fault.empty()) environment["ANNULUS_FAULT"] = fault;
  const Outcome outcome =
      run_annulus(folder, "train deck.toml --set train.steps=2", ranks, environment, "annulus_faulty");
  INFO(outcome.error);
  REQUIRE(outcome.code == 0);
  std::vector<Allocations> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().stem() != "allocations") continue;
    std::ifstream file(entry.path());
    Allocations allocations;
    long long bytes;
    for (std::string label; file >> bytes && std::getline(file >> std::ws, label);)
      (label.starts_with("Kokkos::") || label.starts_with("annulus::comm::") ? allocations.others
                                                                             : allocations.ours)[label] += bytes;
    all.push_back(allocations);
    std::filesystem::remove(entry.path());
  }
  std::filesystem::remove_all(folder.path() / "runs");
  return all;
}

std::map<std::string, long long> planned(const Folder& folder) {
  const Outcome outcome = run_annulus(folder, "plan deck.toml --json");
  INFO(outcome.error);
  REQUIRE(outcome.code == 0);
  const auto plan = nlohmann::json::parse(outcome.out);
  std::map<std::string, long long> bytes;
  for (const auto& allocation : plan["allocations"]) bytes[allocation["label"]] = allocation["bytes"];
  return bytes;
}

}  // namespace

TEST_CASE("plan: equals, byte for byte, what another process allocated in its run", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  const int ranks = GENERATE(1, 2, 3);
  struct Size {
    std::string length, compute;
  };
  const auto [length, compute] = GENERATE(Size{"97", "\"fp32\""}, Size{"256", "\"fp32\""}, Size{"97", "\"bf16\""});
  CAPTURE(ranks, length, compute);
  folder.write("deck.toml", small_deck({{"mesh.ring", std::to_string(ranks)},
                                        {"data.sequence_length", length},
                                        {"precision.compute", compute}}));
  const auto plan = planned(folder);
  CHECK(plan.size() >= 3);
  const auto runs = counted(folder, ranks);
  REQUIRE(runs.size() == std::size_t(ranks));
  for (const auto& allocations : runs) CHECK(allocations.ours == plan);
}

TEST_CASE("plan: a stray allocation would be seen", "[end_to_end]") {
  const Folder folder;
  make_shards(folder);
  folder.write("deck.toml", small_deck());
  const auto runs = counted(folder, 1, "stray-view");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].ours != planned(folder));
}
