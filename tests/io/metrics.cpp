#include "io/metrics.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.hpp"
#include "io/scratch_folder.hpp"

using namespace annulus;
using namespace annulus::io;
using namespace annulus::test;

namespace {

StepMetrics row_of(index_t step) {
  StepMetrics row{.step = step,
                  .loss = 1.0 / 3 + static_cast<double>(step),
                  .lr = 3e-4 / static_cast<double>(step),
                  .grad_norm = 0.1,
                  .ms = 12.5,
                  .tokens_per_second = 1e6 / 7,
                  .tokens = 4096 * step,
                  .validation_loss = {}};
  if (step % 3 == 0) row.validation_loss = 2.0 / 7;
  return row;
}

void append(const std::filesystem::path& path, index_t resumed, index_t last) {
  MetricsFile metrics(path, resumed);
  for (index_t step = resumed + 1; step <= last; ++step) metrics.append(row_of(step));
}

}  // namespace

TEST_CASE("metrics: every number reads back as the same bits", "[io]") {
  const ScratchFolder folder;
  append(folder / "metrics.csv", 0, 7);
  {
    MetricsFile metrics(folder / "metrics.csv", 7);
    StepMetrics row = row_of(8);
    row.loss = std::numeric_limits<double>::quiet_NaN();
    row.grad_norm = std::numeric_limits<double>::infinity();
    row.lr = 5e-324;
    metrics.append(row);
  }
  const auto rows = read_metrics(folder / "metrics.csv");
  REQUIRE(rows.size() == 8);
  for (index_t step = 1; step <= 7; ++step) {
    const StepMetrics &found = rows[step - 1], expected = row_of(step);
    CHECK((found.step == step && found.loss == expected.loss && found.lr == expected.lr &&
           found.tokens == expected.tokens));
    CHECK((found.tokens_per_second == expected.tokens_per_second && found.validation_loss == expected.validation_loss));
  }
  CHECK((rows[7].loss != rows[7].loss && rows[7].grad_norm > 1e308 && rows[7].lr == 5e-324));
}

TEST_CASE("metrics: a resumed run leaves the file of an uninterrupted one", "[io]") {
  const ScratchFolder folder;
  append(folder / "whole.csv", 0, 9);
  append(folder / "resumed.csv", 0, 6);
  put(folder / "resumed.csv", content(folder / "resumed.csv") + "7,0.33");  // killed in the midst of a row
  append(folder / "resumed.csv", 4, 9);
  CHECK(content(folder / "resumed.csv") == content(folder / "whole.csv"));
  append(folder / "resumed.csv", 0, 9);  // begins anew
  CHECK(content(folder / "resumed.csv") == content(folder / "whole.csv"));
  append(folder / "absent.csv", 4, 5);  // resumed in another place
  CHECK(read_metrics(folder / "absent.csv").size() == 1);
}

TEST_CASE("metrics: each row is in the file as soon as it is appended, in one piece", "[io]") {
  const ScratchFolder folder;
  MetricsFile metrics(folder / "metrics.csv", 0);
  for (index_t step = 1; step <= 3; ++step) {
    metrics.append(row_of(step));
    CHECK(index_t(read_metrics(folder / "metrics.csv").size()) == step);
  }
}

TEST_CASE("metrics: what is no metrics file is refused by name and line", "[io]") {
  const ScratchFolder folder;
  append(folder / "metrics.csv", 0, 2);
  CHECK_THROWS_AS(read_metrics(put(folder / "other.csv", "step,loss\n1,2\n")), Refused);
  const auto damaged = put(folder / "damaged.csv", content(folder / "metrics.csv") + "3,x,1,1,1,1,1,\n");
  CHECK_THROWS_WITH(MetricsFile(damaged, 3), Catch::Matchers::ContainsSubstring("damaged.csv:4: \"x\" is no number"));
  CHECK_THROWS_AS(MetricsFile(folder / "absent/metrics.csv", 0), Refused);
}

TEST_CASE("events: one object a line, and a line that a killed run left unfinished spoils no other", "[io]") {
  const ScratchFolder folder;
  const auto path = folder / "events.jsonl";
  EventLog(path).append("start", 0, {{"ranks", index_t{4}}, {"mesh", "1 x 4"}});
  put(path, content(path) + "{\"event\": \"che");
  EventLog(path).append("validation", 5, {{"loss", 0.1}, {"best", true}, {"text", "\"quoted\"\n"}});
  std::istringstream lines(content(path));
  std::string first, broken, last;
  REQUIRE((std::getline(lines, first) && std::getline(lines, broken) && std::getline(lines, last)));
  const auto start = nlohmann::json::parse(first), validation = nlohmann::json::parse(last);
  CHECK((start["event"] == "start" && start["step"] == 0 && start["ranks"] == 4 && start["mesh"] == "1 x 4"));
  CHECK((validation["loss"] == 0.1 && validation["best"] == true && validation["text"] == "\"quoted\"\n"));
  CHECK(start["time"].get<std::string>().size() == 20);
  CHECK(broken == "{\"event\": \"che");
}
