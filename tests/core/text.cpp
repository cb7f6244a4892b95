#include "core/text.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace annulus;

TEST_CASE("text: sizes, durations and counts as people write them", "[core]") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(1536) == "1.50 KiB");
  CHECK(bytes_text(index_t{3} << 40) == "3.00 TiB");
  CHECK(duration_text(0.4) == "0 s");
  CHECK(duration_text(59.7) == "1 min 00 s");
  CHECK(duration_text(7325) == "2 h 02 min");
  CHECK(duration_text(180000) == "2 d 02 h");
  CHECK(count_text(640) == "640");
  CHECK(count_text(12.34e6) == "12.3 M");
  CHECK(joined({"a", "b", "c"}, ", ") == "a, b, c");
  CHECK(text("T = ", 97, ", lr = ", 0.5) == "T = 97, lr = 0.5");
}

TEST_CASE("text: the nearest name is one that a typing mistake away, or none", "[core]") {
  const std::vector<std::string> names = {"sequence_length", "steps", "seed", "micro_batch"};
  CHECK(nearest("sequence_lenght", names) == "sequence_length");
  CHECK(nearest("step", names) == "steps");
  CHECK(nearest("sed", names) == "seed");
  CHECK(nearest("optimizer", names).empty());
}
