#include "train/schedule.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

using annulus::train::learning_rate;
using annulus::train::ScheduleKeys;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

ScheduleKeys schedule(const char* shape, double floor, const char* tail = "1-sqrt") {
  return {.shape = shape, .peak = 1, .floor = floor, .warmup = 100, .decay_steps = 200, .tail = tail};
}

}  // namespace

TEST_CASE("schedule: warmup rises by equal steps to the peak", "[train]") {
  for (const char* shape : {"cosine", "wsd", "constant"}) {
    CAPTURE(shape);
    CHECK(learning_rate(schedule(shape, 0.1), 0, 1000) == 0.01);
    CHECK(learning_rate(schedule(shape, 0.1), 49, 1000) == 0.5);
    CHECK(learning_rate(schedule(shape, 0.1), 99, 1000) == 1);
    CHECK(learning_rate(schedule(shape, 0.1), 100, 1000) == 1);
  }
}

TEST_CASE("schedule: cosine falls to its floor", "[train]") {
  CHECK_THAT(learning_rate(schedule("cosine", 0.1), 550, 1000), WithinAbs(0.55, 1e-12));
  CHECK_THAT(learning_rate(schedule("cosine", 0.1), 999, 1000), WithinAbs(0.10000274, 5e-9));
}

TEST_CASE("schedule: wsd stays on its plateau, then falls by each tail", "[train]") {
  const auto sqrt = schedule("wsd", 0);
  CHECK(learning_rate(sqrt, 799, 1000) == 1);
  CHECK(learning_rate(sqrt, 800, 1000) == 1);
  CHECK_THAT(learning_rate(sqrt, 850, 1000), WithinAbs(0.5, 1e-12));
  CHECK_THAT(learning_rate(sqrt, 900, 1000), WithinAbs(0.29289322, 5e-9));
  CHECK_THAT(learning_rate(sqrt, 999, 1000), WithinAbs(0.00250313, 5e-9));
  CHECK_THAT(learning_rate(schedule("wsd", 0.2, "linear"), 850, 1000), WithinAbs(0.8, 1e-12));
  CHECK_THAT(learning_rate(schedule("wsd", 0.2, "cosine"), 900, 1000), WithinAbs(0.6, 1e-12));
  CHECK_THAT(learning_rate(schedule("wsd", 0.01, "exponential"), 900, 1000), WithinRel(0.1, 1e-12));
}

TEST_CASE("schedule: a peak scales everything", "[train]") {
  auto small = schedule("cosine", 0.1);
  small.peak = 3e-4;
  for (const int t : {0, 99, 100, 550, 999})
    CHECK_THAT(learning_rate(small, t, 1000), WithinRel(3e-4 * learning_rate(schedule("cosine", 0.1), t, 1000), 1e-12));
}
