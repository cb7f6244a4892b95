#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "eval/generate.hpp"

using namespace annulus;
using eval::sampled_token;
using eval::Sampling;

TEST_CASE("sampling: greedy takes the most likely token, the smaller id where two are", "[eval]") {
  CHECK(sampled_token({0.5, 2, -1, 2}, Sampling{}, 0) == 1);
  CHECK(sampled_token({-5, -5, -5}, Sampling{}, 7) == 0);
}

TEST_CASE("sampling: frequencies follow softmax at the temperature", "[eval]") {
  const std::vector<double> logits = {1, 0, -1, 2};
  for (const double temperature : {0.5, 1.0, 2.0}) {
    constexpr int draws = 40000;
    std::vector<int> counts(4);
    for (int n = 0; n < draws; ++n) counts[sampled_token(logits, {.temperature = temperature, .seed = 5}, n)] += 1;
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit / temperature);
    for (int token = 0; token < 4; ++token) {
      const double p = std::exp(logits[token] / temperature) / sum;
      CAPTURE(temperature, token, p, counts[token]);
      CHECK(std::abs(counts[token] - draws * p) < 4.5 * std::sqrt(draws * p * (1 - p)));
    }
  }
}

TEST_CASE("sampling: top_k leaves the k most likely only", "[eval]") {
  bool seen[4] = {};
  for (int n = 0; n < 2000; ++n) seen[sampled_token({1, 0, -1, 2}, {.temperature = 3, .top_k = 2}, n)] = true;
  CHECK((seen[0] && seen[3] && !seen[1] && !seen[2]));
}
