#include <catch2/catch_test_macros.hpp>

#include "app/program_under_test.hpp"
#include "io/scratch_folder.hpp"

using namespace annulus::test;

TEST_CASE("deck-reference: docs/deck.md is its output", "[app]") {
  const Outcome outcome = program("deck-reference");
  CHECK(outcome.code == 0);
  CHECK(outcome.output == content(source_path("docs/deck.md")));
}
