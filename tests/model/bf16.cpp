/// bf16 compute: fp32 master and state beside rounded parameters, and gradients as near to fp64's as rounding allows.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <cstdio>

#include "model/rig.hpp"
#include "model/rounding.hpp"
#include "support/ranks.hpp"

using namespace annulus;
using namespace annulus::model;
using namespace annulus::test;

namespace {

ModelConfig in(const char* compute, ModelConfig config) {
  config.precision.compute = compute;
  return config;
}

/// From the definition: 8 significant bits, ties to even.
double rounded(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8);
}

/// Whether each rank's compute copy, all of it, is the master rounded.
bool is_rounded_master(const Rig& rig) {
  const auto master = tensors(rig, Arena::master);
  for (const Tensor& tensor : rig.model->parameters().tensors()) {
    Numbers expected = master.at(tensor.name);
    for (double& value : expected) value = rounded(value);
    if (elements(*rig.model, Arena::compute, {tensor.offset, tensor.count}) != expected) return false;
  }
  return true;
}

std::vector<std::vector<Row>> two_micro_batches(const ModelConfig& config, index_t first) {
  std::vector<std::vector<Row>> micro_batches(2);
  for (index_t n = 0; n < 4; ++n) micro_batches[n / 2].push_back(text_row(config, 4 * first + n, n < 2));
  return micro_batches;
}

/// Errors of one kind of tensor against the oracle, in its unit.
struct Errors {
  double squares = 0;
  int count = 0;
  void add(double error) {
    squares += error * error;
    ++count;
  }
  double mean() const { return std::sqrt(squares / count); }
};

}  // namespace

TEST_CASE("bf16: every gradient is within its kind's budget of fp64's on the same rounded parameters", "[model]") {
  const bool tied = GENERATE(false, true);
  const ModelConfig config = small_model(97, 2, tied);
  Rig rig = on_mesh(in("bf16", config), {1, ranks(), 1}), oracle = alone(config);
  std::map<std::string, Errors> errors;
  Errors loss, gradient_norm;
  for (index_t draw = 1; draw <= 6; ++draw) {
    rig.model->initialise(draw);
    for (const Tensor& tensor : oracle.model->parameters().tensors()) {
      const index_t begin = rig.model->parameters().tensor(tensor.name).offset;
      set_elements(*oracle.model, Arena::compute, tensor.offset,
                   elements(*rig.model, Arena::compute, {begin, tensor.count}));
    }
    accumulate(rig, two_micro_batches(config, draw));
    accumulate(oracle, two_micro_batches(config, draw));
    const StepNumbers found = rig.model->gradients_only(), exact = oracle.model->gradients_only();
    loss.add(distance({found.nll_sum}, {exact.nll_sum}));
    gradient_norm.add(distance({found.gradient_norm}, {exact.gradient_norm}));
    const auto gradients = tensors(rig, Arena::gradient), expected = tensors(oracle, Arena::gradient);
    for (const auto& [name, values] : expected)
      errors[name].add(distance(gradients.at(name), values, exact.gradient_norm));
  }
  const auto check = [&](const std::string& name, const Errors& found, double budget) {
    if (rank() == 0) std::printf("%-34s error %.1e of %.1e\n", name.c_str(), found.mean(), budget);
    CAPTURE(name, found.mean(), budget);
    CHECK(found.mean() <= budget);
    CHECK(found.mean() > 0);
  };
  check("loss", loss, bf16_loss_error(config.model));
  check("gradient norm", gradient_norm, bf16_loss_error(config.model));
  for (const auto& [name, found] : errors) check(name, found, bf16_gradient_error(config.model, name));
}

TEST_CASE("bf16: a mesh's gradients differ from one rank's by roundings that fell otherwise", "[model]") {
  const ModelConfig config = in("bf16", small_model(GENERATE(2, 97), 2, true));
  Rig rig = on_mesh(config, {1, ranks(), 1}), one = alone(config);
  rig.model->initialise(3);
  one.model->initialise(3);
  accumulate(rig, two_micro_batches(config, 0));
  accumulate(one, two_micro_batches(config, 0));
  const StepNumbers found = rig.model->gradients_only(), expected = one.model->gradients_only();
  CHECK(distance({found.nll_sum}, {expected.nll_sum}) <= bf16_loss_error(config.model));
  const auto gradients = tensors(rig, Arena::gradient);
  for (const auto& [name, values] : tensors(one, Arena::gradient)) {
    CAPTURE(name);
    CHECK(distance(gradients.at(name), values, expected.gradient_norm) <= bf16_gradient_error(config.model, name));
  }
}

TEST_CASE("bf16: training begins as in fp32, and reads the master rounded", "[model]") {
  const ModelConfig config = small_model(16, 1, GENERATE(false, true));
  Rig rig = on_mesh(in("bf16", config), {1, ranks(), 1}), fp32 = on_mesh(in("fp32", config), {1, ranks(), 1});
  rig.model->initialise(3);
  fp32.model->initialise(3);
  CHECK((rig.model->compute_type() == Scalar::bf16 && rig.model->state_type() == Scalar::fp32));
  CHECK(tensors(rig, Arena::master) == tensors(fp32, Arena::master));
  CHECK(is_rounded_master(rig));
}

TEST_CASE("bf16: steps below its resolution add up", "[model]") {
  const ModelConfig config = in("bf16", small_model(33, 2, true));
  constexpr double lr = 1e-5;  // of weights around 0.3, whose half ulp is 1e-3
  constexpr index_t steps = 8;
  Rig rig = on_mesh(config, {1, ranks(), 1});
  rig.model->initialise(3);
  const auto before = tensors(rig, Arena::master);
  for (index_t step = 1; step <= steps; ++step) {
    accumulate(rig, two_micro_batches(config, 0));  // the same text: each step moves all weights the same way
    rig.model->update({.lr = lr, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-12, .decay = 0, .clip = 0, .step = step});
    CHECK(is_rounded_master(rig));
  }
  const auto after = tensors(rig, Arena::master);
  for (const auto& [name, values] : before) {
    CAPTURE(name);
    Numbers moved = after.at(name);
    for (std::size_t n = 0; n < moved.size(); ++n) moved[n] -= values[n];
    // Adam's steps are as long as lr while a gradient's sign stays
    CHECK(norm(moved) / std::sqrt(double(moved.size())) > 0.8 * lr * steps);
    CHECK(norm(moved) / std::sqrt(double(moved.size())) < 1.05 * lr * steps);
  }
}

TEST_CASE("bf16: evaluation and logits are fp32 numbers of the rounded model", "[model]") {
  const ModelConfig config = in("bf16", small_model(45, 2, true));
  Rig rig = on_mesh(config, {1, ranks(), 1});
  rig.model->initialise(3);
  const std::vector<Row> rows{text_row(config, 0, true), text_row(config, 1, true)};
  const auto batch = rig.local(rows), first = rig.local({rows[0]});
  Numbers nll(batch.tokens.size()), alone(first.tokens.size());
  rig.model->evaluate(batch, nll);
  rig.model->evaluate(first, alone);
  for (index_t at = 0; at < config.sequence_length; ++at) {
    index_t local = -1;
    for (index_t i = 0; i < index_t(alone.size()); ++i)
      if (rig.layout.global(rig.mesh.ring_rank(), i) == at) local = i;
    Numbers logits(local < 0 ? 0 : config.vocabulary);
    rig.model->logits(first, local, logits);
    if (local < 0 || first.labels[local] == ignored_label) continue;
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit);
    CHECK(distance({std::log(sum) - logits[first.labels[local]]}, {alone[local]}) <= 1e-6);
    CHECK(distance({nll[local]}, {alone[local]}) <= 0.05);
  }
}
