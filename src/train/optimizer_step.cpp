#include "train/optimizer_step.hpp"

#include "core/profile.hpp"

namespace annulus::train {

StepResult StepUnderWay::result() const {
  const auto numbers = numbers_.numbers();
  return {numbers.nll_sum * weight_, numbers.gradient_norm};
}

StepUnderWay begin_step(const Feed& feed, const StepSamples& samples, const model::Update& update) {
  const Region region("annulus::train::step");
  const auto& [mesh, layout, model, loader] = feed;

  // the count is known before forward, so that nothing is divided afterwards
  index_t valid = 0;
  for (index_t n = 0; n < samples.count(mesh.shape()); ++n) valid += loader.valid_tokens(samples.first + n);
  const double weight = valid > 0 ? 1 / double(valid) : 0;

  for (index_t micro = 0; micro < samples.accumulation; ++micro) {
    const index_t first = samples.first + (micro * mesh.shape().dp + mesh.dp_rank()) * samples.rows;
    model.accumulate(loader.batch(first, samples.rows, layout, mesh.ring_rank()), weight, micro == 0,
                     micro == samples.accumulation - 1);
  }
  return {model.update(update), weight};
}

StepResult optimizer_step(const Feed& feed, const StepSamples& samples, const model::Update& update) {
  return begin_step(feed, samples, update).result();
}

}  // namespace annulus::train
