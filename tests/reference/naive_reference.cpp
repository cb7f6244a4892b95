#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstring>

#include "comm/self_communicator.hpp"
#include "core/rng.hpp"
#include "io/loader.hpp"
#include "model/model.hpp"
#include "naive_llama.hpp"

using namespace annulus;

namespace {

struct Case {
  bool tied, qk_norm, causal, documents, restart;
};

model::ModelConfig config_of(const Case& c) {
  model::ModelConfig config;
  config.model = {.layers = 2,
                  .width = 12,
                  .heads = 4,
                  .kv_heads = 2,
                  .head_dim = 6,
                  .ffn = 10,
                  .tied = c.tied,
                  .qk_norm = c.qk_norm};
  config.model.init_deviation = 0.3;  // large enough that every nonlinearity bends
  config.precision.compute = "fp64";
  config.vocabulary = 11;
  config.sequence_length = 13;
  return config;
}

io::Sample sample_of(const Case& c, const model::ModelConfig& config) {
  io::Sample sample;
  for (index_t i = 0; i <= config.sequence_length; ++i)
    sample.tokens.push_back(static_cast<std::int32_t>(double(config.vocabulary) * uniform(3, Draw::test, 0, i)));
  sample.document_begins = c.documents ? std::vector<index_t>{0, 4, 5, 11} : std::vector<index_t>{0};
  return sample;
}

std::vector<double> read(const model::Model& model, model::Arena arena, const model::Tensor& tensor) {
  std::vector<double> values(tensor.count);
  model.read(arena, {tensor.offset, tensor.count}, std::as_writable_bytes(std::span(values)));
  return values;
}

/// The visible keys of a query, from the words of the documentation rather than from the loader.
naive::Text text_of(const Case& c, const io::Sample& sample) {
  naive::Text text;
  const auto length = static_cast<std::int64_t>(sample.tokens.size()) - 1;
  for (std::int64_t i = 0; i < length; ++i) {
    std::int64_t begin = 0, end = length;
    for (const index_t edge : sample.document_begins) {
      if (edge <= i) begin = edge;
      if (edge > i && edge < end) end = edge;
    }
    text.tokens.push_back(sample.tokens[i]);
    text.labels.push_back(end == i + 1 && end < length ? -1 : sample.tokens[i + 1]);
    text.positions.push_back(c.restart ? i - begin : i);
    text.begins.push_back(begin);
    text.ends.push_back(c.causal ? i + 1 : end);
  }
  return text;
}

}  // namespace

TEST_CASE("model: loss and every gradient equal a scalar-by-scalar model in fp64", "[model]") {
  const Case c = GENERATE(Case{true, true, true, false, false}, Case{false, true, true, true, true},
                          Case{true, false, false, false, false}, Case{false, false, true, true, false},
                          Case{true, true, false, true, false});
  CAPTURE(c.tied, c.qk_norm, c.causal, c.documents, c.restart);
  const auto config = config_of(c);
  const auto sample = sample_of(c, config);
  const auto text = text_of(c, sample);

  const Streams streams;
  const comm::Mesh mesh(comm::self_communicator("naive"), {});
  const auto layout = cp::SequenceLayout::zigzag(config.sequence_length, 1);
  const auto rotator = cp::make_rotator("p2p", mesh.ring());
  const auto model = model::make_model(config, {streams, mesh, layout, *rotator});
  model->initialise(5);

  auto& tape = naive::Tape::current();
  tape.clear();
  std::map<std::string, naive::Row> tensors;
  for (const auto& tensor : model->parameters().tensors()) {
    auto& row = tensors[tensor.name];
    for (const double value : read(*model, model::Arena::compute, tensor)) row.push_back(tape.variable(value));
  }
  const naive::Llama naive({.layers = 2,
                            .width = 12,
                            .heads = 4,
                            .kv_heads = 2,
                            .head_dim = 6,
                            .ffn = 10,
                            .vocabulary = 11,
                            .tied = c.tied,
                            .qk_norm = c.qk_norm,
                            .norm_eps = config.model.norm_eps,
                            .theta = config.rope.theta},
                           tensors);
  const naive::Number nll = naive.nll_sum(text);
  const auto slopes = tape.gradient(nll);

  double valid = 0;
  for (const int label : text.labels) valid += label >= 0;
  const io::RowRules rules{.causal = c.causal, .restart_positions = c.restart};
  model->accumulate(io::local_batch({&sample, 1}, rules, layout, 0), 1 / valid, true, true);
  const auto numbers =
      model->update({.lr = 0, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decay = 0, .clip = 0, .step = 1});

  CHECK(std::abs(numbers.nll_sum - nll.value) <= 1e-12 * nll.value);
  double all = 0;
  for (const auto& [name, row] : tensors)
    for (const auto& number : row) all += slopes[number.node] * slopes[number.node] / (valid * valid);
  CHECK(std::abs(numbers.gradient_norm - std::sqrt(all)) <= 1e-12 * std::sqrt(all));
  for (const auto& tensor : model->parameters().tensors()) {
    const auto found = read(*model, model::Arena::gradient, tensor);
    double difference = 0, size = 0;
    for (index_t n = 0; n < tensor.count; ++n) {
      const double expected = slopes[tensors.at(tensor.name)[n].node] / valid;
      difference += (found[n] - expected) * (found[n] - expected);
      size += expected * expected;
    }
    CAPTURE(tensor.name, std::sqrt(difference), std::sqrt(size));
    CHECK(std::sqrt(difference) <= 1e-10 * std::max(std::sqrt(size), 1e-3 * std::sqrt(all)));
  }
}
