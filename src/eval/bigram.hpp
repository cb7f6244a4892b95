/// What a model must beat to have learnt more than which token follows which: an interpolated bigram model (Jelinek &
/// Mercer 1980) p(b | a) = w2 count(a, b) / count(a) + w1 count(b) / count + w0 / vocabulary, whose weights are fitted
/// by expectation-maximisation on text that was held out from the counts.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.hpp"

namespace annulus::eval {

class BigramModel {
 public:
  static constexpr index_t largest_vocabulary = 16384;  ///< whose table of pairs takes 1 GiB

  /// Throws Refused where the vocabulary is larger. Counts the first nine tenths of `text`, fits the weights on the
  /// rest, then counts all of it.
  BigramModel(std::span<const std::int32_t> text, index_t vocabulary);

  /// -log p(next | previous), in nats.
  double nll(std::int32_t previous, std::int32_t next) const;
  /// Mean over the neighbours of a text.
  double cross_entropy(std::span<const std::int32_t> text) const;
  /// Of bigram, unigram and uniform.
  const std::array<double, 3>& weights() const { return weights_; }

 private:
  std::array<double, 3> components(std::int32_t previous, std::int32_t next) const;
  void count(std::span<const std::int32_t> text);

  index_t vocabulary_, total_ = 0;
  std::vector<index_t> singles_, followed_;  ///< of each token: how often it occurs, how often something follows it
  std::vector<std::int32_t> pairs_;          ///< (vocabulary, vocabulary)
  std::array<double, 3> weights_ = {0.6, 0.3, 0.1};
};

}  // namespace annulus::eval
