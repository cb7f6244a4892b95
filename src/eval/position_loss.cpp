#include "eval/position_loss.hpp"

#include <algorithm>

#include "core/profile.hpp"

namespace annulus::eval {

std::vector<PositionBin> doubling_bins(index_t length) {
  std::vector<PositionBin> bins;
  for (index_t begin = 0, end = 16; begin < length; begin = end, end *= 2)
    bins.push_back({.begin = begin, .end = std::min(end, length)});
  return bins;
}

PositionLoss position_loss(model::Model& model, const io::Loader& loader, const cp::SequenceLayout& layout,
                           const comm::Mesh& mesh, index_t windows) {
  const Region region("annulus::eval::position_loss");
  PositionLoss loss{.bins = doubling_bins(layout.length())};
  std::vector<double> nll;
  const index_t rows_at_once = model.config().micro_batch, dp = mesh.shape().dp;
  // dp rank r takes the r-th of dp even shares; within a ring all ranks walk through the same windows
  const index_t begin = windows * mesh.dp_rank() / dp, end = windows * (mesh.dp_rank() + 1) / dp;
  for (index_t window = begin; window < end; window += rows_at_once) {
    const auto batch = loader.batch(window, std::min(rows_at_once, end - window), layout, mesh.ring_rank());
    nll.resize(batch.labels.size());
    model.evaluate(batch, nll);
    for (index_t n = 0; n < index_t(nll.size()); ++n) {
      if (batch.labels[n] == ignored_label) continue;
      const index_t order = layout.global(mesh.ring_rank(), n % batch.tokens_per_row);
      const auto bin = std::find_if(loss.bins.begin(), loss.bins.end(), [&](auto& b) { return order < b.end; });
      bin->nll_sum += nll[n];
      bin->tokens += 1;
    }
  }
  for (auto& bin : loss.bins) {
    bin.nll_sum = comm::agree(mesh.world(), bin.nll_sum, comm::Reduction::sum);
    bin.tokens = comm::agree(mesh.world(), bin.tokens, comm::Reduction::sum);
    loss.nll_sum += bin.nll_sum;
    loss.tokens += bin.tokens;
  }
  return loss;
}

}  // namespace annulus::eval
