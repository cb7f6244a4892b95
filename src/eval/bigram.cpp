#include "eval/bigram.hpp"

#include <cmath>

#include "core/error.hpp"
#include "core/text.hpp"

namespace annulus::eval {

namespace {

std::size_t pairs_of(index_t vocabulary) {
  if (vocabulary > BigramModel::largest_vocabulary)
    throw Refused(text("a bigram model counts every pair of ids: up to ", BigramModel::largest_vocabulary,
                       " ids can be held, and this vocabulary has ", vocabulary, "; evaluate without --bigram"));
  return static_cast<std::size_t>(vocabulary * vocabulary);
}

}  // namespace

BigramModel::BigramModel(std::span<const std::int32_t> text, index_t vocabulary)
    : vocabulary_(vocabulary), singles_(vocabulary), followed_(vocabulary), pairs_(pairs_of(vocabulary)) {
  const std::size_t counted = text.size() / 10 * 9;
  count(text.first(counted));
  const auto held_out = text.subspan(counted);
  for (int round = 0; round < 50; ++round) {  // expectation-maximisation; converges long before
    std::array<double, 3> expected = {};
    for (std::size_t n = 1; n < held_out.size(); ++n) {
      const auto parts = components(held_out[n - 1], held_out[n]);
      const double whole = parts[0] + parts[1] + parts[2];
      for (int c = 0; c < 3; ++c) expected[c] += parts[c] / whole;
    }
    const double whole = expected[0] + expected[1] + expected[2];
    for (int c = 0; c < 3 && whole > 0; ++c) weights_[c] = expected[c] / whole;
  }
  count(held_out);
}

void BigramModel::count(std::span<const std::int32_t> text) {
  total_ += static_cast<index_t>(text.size());
  for (const auto token : text) singles_[token] += 1;
  for (std::size_t n = 1; n < text.size(); ++n) {
    followed_[text[n - 1]] += 1;
    pairs_[text[n - 1] * vocabulary_ + text[n]] += 1;
  }
}

std::array<double, 3> BigramModel::components(std::int32_t previous, std::int32_t next) const {
  const double pairs = pairs_[previous * vocabulary_ + next], followed = double(followed_[previous]);
  return {followed > 0 ? weights_[0] * pairs / followed : 0,
          total_ > 0 ? weights_[1] * double(singles_[next]) / double(total_) : 0, weights_[2] / double(vocabulary_)};
}

double BigramModel::nll(std::int32_t previous, std::int32_t next) const {
  const auto parts = components(previous, next);
  return -std::log(parts[0] + parts[1] + parts[2]);
}

double BigramModel::cross_entropy(std::span<const std::int32_t> text) const {
  double sum = 0;
  for (std::size_t n = 1; n < text.size(); ++n) sum += nll(text[n - 1], text[n]);
  return text.size() > 1 ? sum / double(text.size() - 1) : 0;
}

}  // namespace annulus::eval
