#include "app/bench_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "app/assembly.hpp"
#include "core/rng.hpp"

namespace annulus::app {

namespace {

constexpr index_t byte_vocabulary = 257;

/// Uniform tokens: what they are does not change how long a step takes.
class RandomTokens final : public io::Loader {
 public:
  RandomTokens(index_t length, index_t vocabulary) : length_(length), vocabulary_(vocabulary) {}
  index_t sequence_length() const override { return length_; }
  index_t vocabulary() const override { return vocabulary_; }
  index_t samples_per_epoch() const override { return index_t{1} << 40; }
  index_t valid_tokens(index_t) const override { return length_; }
  std::string fingerprint() const override { return "random"; }

  io::Sample sample(index_t g) const override {
    io::Sample sample{std::vector<std::int32_t>(length_ + 1), {0}};
    for (index_t i = 0; i <= length_; ++i)
      sample.tokens[i] = static_cast<std::int32_t>(double(vocabulary_) * uniform(1, Draw::test, 0, g * length_ + i));
    return sample;
  }

  cp::LocalBatch batch(index_t first, index_t rows, const cp::SequenceLayout& layout, int rank) const override {
    std::vector<io::Sample> samples;
    for (index_t row = 0; row < rows; ++row) samples.push_back(sample(first + row));
    return io::local_batch(samples, io::RowRules{}, layout, rank);
  }

 private:
  index_t length_, vocabulary_;
};

double flops_per_token(const model::Model& model) {
  const auto& config = model.config();
  const double keys = 0.5 * double(config.sequence_length);  // causal: half of them on average
  return 6 * double(model.parameters().count()) +
         12 * keys * double(config.model.layers * config.model.heads * config.model.head_dim);
}

}  // namespace

std::vector<BenchRow> bench_step(const RunConfig& config, ParallelRun& run, int steps) {
  check_ranks(config, run.ranks());
  const index_t vocabulary = config.model.vocabulary > 0 ? config.model.vocabulary : byte_vocabulary;
  Assembly parts(config, run.world(), run.streams(), Seams{},
                 std::make_unique<RandomTokens>(config.data.sequence_length, vocabulary));
  parts.model().initialise(1);

  std::vector<double> seconds;
  train::StepSamples samples{0, config.train.micro_batch, config.accumulation()};
  std::optional<train::StepUnderWay> before;
  auto begin = std::chrono::steady_clock::now();
  for (int step = -2; step <= steps;
       ++step) {  // the first two warm up; each is waited for after the next was given out
    auto given = train::begin_step(
        parts.feed(), samples,
        {.lr = 1e-4, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decay = 0.1, .clip = 1, .step = step + 3});
    if (before) before->result();
    before = std::move(given);
    const auto end = std::chrono::steady_clock::now();
    if (step > 0) seconds.push_back(std::chrono::duration<double>(end - begin).count());
    begin = end;
    samples.first += samples.count(parts.mesh().shape());
  }
  std::sort(seconds.begin(), seconds.end());

  const double median = seconds[seconds.size() / 2], rate = double(config.tokens_per_step()) / median;
  const auto& shape = parts.mesh().shape();
  const auto row = [&](const char* unit, double value) {
    return BenchRow{.name = fmt::format("step, dp {} x ring {}", shape.dp, shape.ring),
                    .type = config.precision.compute,
                    .shape = fmt::format("T {}, {} tokens", config.data.sequence_length, config.tokens_per_step()),
                    .seconds = median,
                    .rate = value,
                    .unit = unit,
                    .yardstick = "",
                    .yardstick_rate = 0};
  };
  return {row("tokens/s", rate), row("GFLOP/s", 1e-9 * rate * flops_per_token(parts.model()))};
}

}  // namespace annulus::app
