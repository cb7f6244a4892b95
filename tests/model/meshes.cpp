/// The same numbers on every mesh: a model on the program's ranks against one on a single rank that sees all the rows.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "model/rig.hpp"
#include "support/ranks.hpp"

using namespace annulus;
using namespace annulus::model;
using namespace annulus::test;

namespace {

constexpr std::uint64_t seed = 3;
/// fp64 sums of some hundred terms in another order, over three steps.
constexpr double tolerance = 1e-10;

std::vector<comm::MeshShape> meshes() {
  switch (ranks()) {
    case 1:
      return {{1, 1, 1}};
    case 2:
      return {{2, 1, 1}, {1, 2, 1}};
    case 4:
      return {{1, 4, 1}, {2, 2, 1}};
    default:
      return {{1, ranks(), 1}};
  }
}

Update settings(index_t step) {
  return {.lr = 1e-2, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decay = 0.1, .clip = 0.5, .step = step};
}

/// Fresh rows for a step: `count` micro-batches of the model's size.
std::vector<std::vector<Row>> fresh(const ModelConfig& config, index_t step, index_t count, bool documents) {
  std::vector<std::vector<Row>> micro_batches(count);
  for (index_t n = 0; n < count; ++n)
    for (index_t row = 0; row < config.micro_batch; ++row)
      micro_batches[n].push_back(text_row(config, ((step - 1) * count + n) * config.micro_batch + row, documents));
  return micro_batches;
}

double norm_of_all(const std::map<std::string, Numbers>& tensors) {
  Numbers norms;
  for (const auto& [name, values] : tensors) norms.push_back(norm(values));
  return norm(norms);
}

void check_equal(const std::map<std::string, Numbers>& found, const std::map<std::string, Numbers>& expected) {
  REQUIRE(found.size() == expected.size());
  const double all = norm_of_all(expected);
  for (const auto& [name, values] : expected) {
    CAPTURE(name);
    CHECK(distance(found.at(name), values, all) <= tolerance);
  }
}

void check_equal(const StepNumbers& found, const StepNumbers& expected) {
  CHECK(distance({found.nll_sum}, {expected.nll_sum}) <= tolerance);
  CHECK(distance({found.gradient_norm}, {expected.gradient_norm}) <= tolerance);
}

}  // namespace

TEST_CASE("model: losses, gradients and parameters are the same on every mesh", "[model]") {
  const index_t length = GENERATE(97, 64), rows = GENERATE(1, 2), accumulation = GENERATE(1, 2);
  const bool documents = GENERATE(false, true), tied = documents;
  const ModelConfig config = small_model(length, rows, tied);
  Rig reference = alone(config);
  for (const comm::MeshShape shape : meshes()) {
    CAPTURE(shape.dp, shape.ring, length, rows, accumulation, documents);
    Rig rig = on_mesh(config, shape);
    rig.model->initialise(seed);
    reference.model->initialise(seed);
    for (index_t step = 1; step <= 3; ++step) {
      CAPTURE(step);
      const auto micro_batches = fresh(config, step, accumulation * shape.dp, documents);
      accumulate(rig, micro_batches);
      accumulate(reference, micro_batches);
      check_equal(rig.model->update(settings(step)).numbers(), reference.model->update(settings(step)).numbers());
      check_equal(tensors(rig, Arena::gradient), tensors(reference, Arena::gradient));
    }
    for (const Arena arena : {Arena::master, Arena::m, Arena::v})
      check_equal(tensors(rig, arena), tensors(reference, arena));
  }
}

TEST_CASE("model: fewer tokens than ranks leave some without any, and change nothing", "[model]") {
  const index_t length = GENERATE(1, 2, 3);
  const ModelConfig config = small_model(length, 2, true);
  Rig rig = on_mesh(config, {1, ranks(), 1}), reference = alone(config);
  rig.model->initialise(seed);
  reference.model->initialise(seed);
  const auto micro_batches = fresh(config, 1, 2, false);
  accumulate(rig, micro_batches);
  accumulate(reference, micro_batches);
  check_equal(rig.model->gradients_only(), reference.model->gradients_only());
  check_equal(tensors(rig, Arena::gradient), tensors(reference, Arena::gradient));
}

TEST_CASE("model: a step without any label has loss 0, gradients 0 and no NaN", "[model]") {
  ModelConfig config = small_model(9, 1, GENERATE(false, true));
  config.precision.compute = GENERATE("fp32", "fp64", "bf16");
  Row row = text_row(config, 0, false);
  for (index_t at = 1; at <= config.sequence_length; ++at) row.document_begins.push_back(at);  // each token its own
  REQUIRE(valid_tokens({row}) == 0);
  Rig rig = on_mesh(config, {1, ranks(), 1});
  rig.model->initialise(seed);
  accumulate(rig, {{row}});
  const StepNumbers numbers = rig.model->gradients_only();
  CHECK(numbers.nll_sum == 0);
  CHECK(numbers.gradient_norm == 0);
  for (const auto& [name, values] : tensors(rig, Arena::gradient)) CHECK(norm(values) == 0);
}

TEST_CASE("model: parameters begin the same on every mesh, as the table says", "[model]") {
  const ModelConfig config = small_model(16, 1, GENERATE(false, true));
  Rig reference = alone(config);
  reference.model->initialise(seed);
  const auto expected = tensors(reference, Arena::master);
  for (const comm::MeshShape shape : meshes()) {
    Rig rig = on_mesh(config, shape);
    rig.model->initialise(seed);
    CHECK(tensors(rig, Arena::master) == expected);
    for (const Tensor& tensor : rig.model->parameters().tensors()) {
      CAPTURE(tensor.name);
      CHECK(elements(*rig.model, Arena::compute, {tensor.offset, tensor.count}) == expected.at(tensor.name));
    }
  }
  for (const Tensor& tensor : reference.model->parameters().tensors()) {
    CAPTURE(tensor.name);
    const Numbers& values = expected.at(tensor.name);
    const double root_mean_square = norm(values) / std::sqrt(static_cast<double>(tensor.count));
    if (tensor.decays)  // of n normal numbers the mean square strays by sqrt(2 / n) of itself: five times that
      CHECK(std::abs(root_mean_square / tensor.initial.deviation - 1) <
            2.5 * std::sqrt(2 / static_cast<double>(tensor.count)));
    else
      CHECK(values == Numbers(tensor.count, 1.0));
  }
  reference.model->initialise(seed + 1);
  CHECK(tensors(reference, Arena::master) != expected);
}

TEST_CASE("model: evaluation gives each token's loss, and logits those of one token", "[model]") {
  const ModelConfig config = small_model(45, 2, true);
  Rig rig = on_mesh(config, {1, ranks(), 1}), reference = alone(config);
  rig.model->initialise(seed);
  reference.model->initialise(seed);
  const std::vector<Row> rows{text_row(config, 0, true), text_row(config, 1, true)};
  Numbers whole(2 * config.sequence_length);
  reference.model->evaluate(reference.local(rows), whole);

  for (index_t row = 0; row < 2; ++row) {  // rows of a micro-batch do not see each other
    Numbers one(config.sequence_length);
    reference.model->evaluate(reference.local({rows[row]}), one);
    const auto begin = whole.begin() + row * config.sequence_length;
    CHECK(distance({begin, begin + config.sequence_length}, one) <= tolerance);
  }

  const int me = rig.mesh.ring_rank();
  const index_t mine = rig.layout.count(me);
  Numbers nll(2 * mine);
  rig.model->evaluate(rig.local(rows), nll);
  for (index_t row = 0; row < 2; ++row)
    for (index_t i = 0; i < mine; ++i)
      CHECK(distance({nll[row * mine + i]}, {whole[row * config.sequence_length + rig.layout.global(me, i)]}) <=
            tolerance);

  // -log softmax of the logits is the loss, where there is a label
  const auto batch = reference.local(rows);
  for (index_t at = 0; at < config.sequence_length; ++at) {
    index_t local = -1;
    for (index_t i = 0; i < mine; ++i)
      if (rig.layout.global(me, i) == at) local = i;
    Numbers logits(local < 0 ? 0 : config.vocabulary);
    rig.model->logits(rig.local({rows[0]}), local, logits);
    if (local < 0 || batch.labels[at] == ignored_label) continue;
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit);
    CHECK(distance({std::log(sum) - logits[batch.labels[at]]}, {whole[at]}) <= tolerance);
  }
}
