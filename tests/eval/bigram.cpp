#include "eval/bigram.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "core/error.hpp"
#include "core/rng.hpp"

using namespace annulus;
using eval::BigramModel;

namespace {

/// A chain over four tokens in which `stay` is the chance that a token repeats; otherwise it is uniform.
std::vector<std::int32_t> chain(index_t length, double stay, std::uint64_t seed) {
  std::vector<std::int32_t> text = {0};
  while (index_t(text.size()) < length) {
    const auto n = text.size();
    const bool repeats = uniform(seed, Draw::test, 0, n) < stay;
    text.push_back(repeats ? text.back() : static_cast<std::int32_t>(4 * uniform(seed, Draw::test, 1, n)));
  }
  return text;
}

}  // namespace

TEST_CASE("bigram: probabilities of what may follow sum to one", "[eval]") {
  const BigramModel model(chain(3000, 0.5, 1), 7);  // tokens 4 to 6 never occur
  for (std::int32_t previous = 0; previous < 4; ++previous) {
    double sum = 0;
    for (std::int32_t next = 0; next < 7; ++next) sum += std::exp(-model.nll(previous, next));
    CHECK(std::abs(sum - 1) < 1e-12);
  }
}

TEST_CASE("bigram: reaches the entropy of a first-order chain, and no less", "[eval]") {
  const double stay = 0.6, repeat = stay + 0.1, other = 0.1;  // 0.4 / 4 for each of the four
  const double entropy = -repeat * std::log(repeat) - 3 * other * std::log(other);
  const BigramModel model(chain(200000, stay, 1), 4);
  const double found = model.cross_entropy(chain(200000, stay, 2));
  // four standard errors of the mean of 200000 surprises with a deviation below 1
  CHECK(std::abs(found - entropy) < 4 / std::sqrt(200000.0));
  CHECK(model.weights()[0] > 0.95);
}

TEST_CASE("bigram: where neighbours tell nothing, the weights say so", "[eval]") {
  const BigramModel model(chain(400, 0, 3), 4);  // too short to count pairs well
  CHECK(model.weights()[0] < 0.5);
  CHECK(std::abs(model.cross_entropy(chain(100000, 0, 4)) - std::log(4.0)) < 0.02);
}

TEST_CASE("bigram: a vocabulary whose pairs are too many to count is refused", "[eval]") {
  CHECK_NOTHROW(BigramModel(std::vector<std::int32_t>{0, 1}, 300));
  CHECK_THROWS_AS(BigramModel(std::vector<std::int32_t>{0, 1}, BigramModel::largest_vocabulary + 1), Refused);
}
