/// Gradients of the whole model against slopes of its own loss, in fp64.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <limits>
#include <numeric>
#include <set>

#include "model/rig.hpp"

using namespace annulus;
using namespace annulus::model;
using namespace annulus::test;

namespace {

using MicroBatches = std::vector<std::vector<Row>>;

double nll_sum(Rig& rig, const MicroBatches& micro_batches) {
  double sum = 0;
  for (const auto& rows : micro_batches) {
    Numbers nll(rows.size() * rig.layout.length());
    rig.model->evaluate(rig.local(rows), nll);
    sum = std::accumulate(nll.begin(), nll.end(), sum);
  }
  return sum;
}

double loss(Rig& rig, const MicroBatches& micro_batches) {
  index_t valid = 0;
  for (const auto& rows : micro_batches) valid += valid_tokens(rows);
  return nll_sum(rig, micro_batches) / static_cast<double>(valid);
}

/// By the five-point rule, whose error is 4 h^4 / 120 of the fifth derivative: 16 times as large at 2 h as at h. So
/// what the two differ by is 15 times the error at h, and bounds it; rounding of the loss adds some ulps of it, divided
/// by h.
struct Slope {
  double value, error;
};
Slope slope(Rig& rig, const MicroBatches& micro_batches, index_t offset) {
  constexpr double h = 1e-3, ulps = 16 * std::numeric_limits<double>::epsilon();
  const double middle = elements(*rig.model, Arena::compute, {offset, 1})[0];
  const auto loss_at = [&](double there) {
    set_elements(*rig.model, Arena::compute, offset, {middle + there});
    return loss(rig, micro_batches);
  };
  const auto difference = [&](double step) { return loss_at(step) - loss_at(-step); };
  const double one = difference(h), two = difference(2 * h), four = difference(4 * h);
  const double at_h = (8 * one - two) / (12 * h), at_2h = (8 * two - four) / (24 * h);
  return {at_h, std::abs(at_h - at_2h) + ulps * loss_at(0) / h};
}

/// The first, last and some other elements.
std::set<index_t> some_elements(const Tensor& tensor) {
  std::set<index_t> elements{0, tensor.count - 1};
  for (index_t n = 1; n <= 4; ++n) elements.insert(n * 7919 % tensor.count);
  return elements;
}

}  // namespace

TEST_CASE("model: every tensor's gradient is the slope of the loss, whatever a step before has left", "[model]") {
  const bool tied = GENERATE(false, true);
  const ModelConfig config = small_model(11, 2, tied);
  Rig rig = alone(config);
  rig.model->initialise(5);
  const MicroBatches before{{text_row(config, 4, true), text_row(config, 5, false)}};
  accumulate(rig, before);
  rig.model->gradients_only();
  const MicroBatches micro_batches{{text_row(config, 0, true), text_row(config, 1, true)},
                                   {text_row(config, 2, false), text_row(config, 3, true)}};
  accumulate(rig, micro_batches);
  const StepNumbers numbers = rig.model->gradients_only();
  const auto gradients = tensors(rig, Arena::gradient);

  CHECK(distance({numbers.nll_sum}, {nll_sum(rig, micro_batches)}) <= 1e-14);
  double squares = 0;
  for (const Tensor& tensor : rig.model->parameters().tensors()) {
    const Numbers& gradient = gradients.at(tensor.name);
    squares += norm(gradient) * norm(gradient);
    for (const index_t n : some_elements(tensor)) {
      CAPTURE(tensor.name, n);
      const auto [slope_there, error] = slope(rig, micro_batches, tensor.offset + n);
      CHECK(std::abs(gradient[n] - slope_there) <= error);
      CHECK(error <= 1e-5 * norm(gradient));  // a test that could see a mistake
    }
  }
  CHECK(distance({numbers.gradient_norm}, {std::sqrt(squares)}) <= 1e-14);
}

TEST_CASE("model: without gradients an update changes nothing but what decays", "[model]") {
  const ModelConfig config = small_model(5, 1, GENERATE(false, true));
  constexpr double lr = 0.25, decay = 0.5;
  Rig rig = alone(config);
  rig.model->initialise(5);
  const auto before = tensors(rig, Arena::master);
  rig.model->accumulate(rig.local({text_row(config, 0, false)}), 0, true, true);
  rig.model->update({.lr = lr, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decay = decay, .clip = 1, .step = 1});
  for (const auto& [name, values] : tensors(rig, Arena::master)) {
    CAPTURE(name);
    const bool gain = name.ends_with(".gain");
    Numbers expected = before.at(name);
    for (double& value : expected) value *= gain ? 1 : 1 - lr * decay;  // exact in binary, but for one rounding
    CHECK(distance(values, expected) <= (gain ? 0 : 1e-15));
  }
}
