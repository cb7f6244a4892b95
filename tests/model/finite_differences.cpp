/// Gradients of the whole model against slopes of its own loss, in fp64.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <limits>
#include <set>

#include "model/rig.hpp"

using namespace annulus;
using namespace annulus::model;
using namespace annulus::test;

namespace {

double loss(Rig& rig, const std::vector<Row>& rows) {
  Numbers nll(rows.size() * rig.layout.length());
  rig.model->evaluate(rig.local(rows), nll);
  double sum = 0;
  for (const double value : nll) sum += value;
  return sum / static_cast<double>(valid_tokens(rows));
}

/// By the five-point rule, whose error is 4 h^4 / 120 of the fifth derivative: 16 times as large at 2 h as at h. So
/// what the two differ by is 15 times the error at h, and bounds it; rounding of the loss adds some ulps of it, divided
/// by h.
struct Slope {
  double value, error;
};
Slope slope(Rig& rig, const std::vector<Row>& rows, index_t offset) {
  constexpr double h = 1e-3, ulps = 16 * std::numeric_limits<double>::epsilon();
  const double middle = elements(*rig.model, Arena::compute, {offset, 1})[0];
  const auto loss_at = [&](double there) {
    set_elements(*rig.model, Arena::compute, offset, {middle + there});
    return loss(rig, rows);
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

TEST_CASE("model: every tensor's gradient is the slope of the loss", "[model]") {
  const bool tied = GENERATE(false, true);
  const ModelConfig config = small_model(11, 2, tied);
  Rig rig = alone(config);
  rig.model->initialise(5);
  const std::vector<Row> rows{text_row(config, 0, true), text_row(config, 1, true)};
  accumulate(rig, {rows});
  rig.model->gradients_only();
  const auto gradients = tensors(rig, Arena::gradient);

  for (const Tensor& tensor : rig.model->parameters().tensors()) {
    const Numbers& gradient = gradients.at(tensor.name);
    for (const index_t n : some_elements(tensor)) {
      CAPTURE(tensor.name, n);
      const auto [slope_there, error] = slope(rig, rows, tensor.offset + n);
      CHECK(std::abs(gradient[n] - slope_there) <= error);
      CHECK(error <= 1e-5 * norm(gradient));  // a test that could see a mistake
    }
  }
}
