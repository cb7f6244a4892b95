#include "eval/generate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/profile.hpp"
#include "core/rng.hpp"
#include "io/loader.hpp"

namespace annulus::eval {

namespace {

/// The local index of a global position, or -1 where another rank holds it.
index_t local_index(const cp::SequenceLayout& layout, int rank, index_t order) {
  index_t before = 0;
  for (const auto& segment : layout.segments(rank)) {
    if (segment.begin <= order && order < segment.begin + segment.count) return before + order - segment.begin;
    before += segment.count;
  }
  return -1;
}

}  // namespace

std::int32_t sampled_token(std::vector<double> logits, const Sampling& sampling, std::uint64_t position) {
  std::vector<std::int32_t> by_likelihood(logits.size());
  std::iota(by_likelihood.begin(), by_likelihood.end(), 0);
  std::stable_sort(by_likelihood.begin(), by_likelihood.end(), [&](auto a, auto b) { return logits[a] > logits[b]; });
  if (sampling.temperature <= 0) return by_likelihood.front();

  if (sampling.top_k > 0 && sampling.top_k < index_t(by_likelihood.size())) by_likelihood.resize(sampling.top_k);
  const double largest = logits[by_likelihood.front()];
  double sum = 0;
  for (const auto token : by_likelihood) {
    logits[token] = std::exp((logits[token] - largest) / sampling.temperature);
    sum += logits[token];
  }
  double left = uniform(sampling.seed, Draw::sampling, 0, position) * sum;
  for (const auto token : by_likelihood)
    if ((left -= logits[token]) < 0) return token;
  return by_likelihood.back();  // rounding left a crumb
}

void generate(model::Model& model, const cp::SequenceLayout& layout, const comm::Mesh& mesh, const Sampling& sampling,
              index_t count, std::int32_t restart, std::vector<std::int32_t>& tokens,
              const std::function<void(std::int32_t)>& each) {
  const Region region("annulus::eval::generate");
  const index_t length = layout.length(), vocabulary = model.config().vocabulary;
  if (tokens.empty()) tokens.push_back(restart);
  std::size_t begin = 0;  // of the window
  for (index_t drawn = 0; drawn < count; ++drawn) {
    while (index_t(tokens.size() - begin) > length) begin += (length + 1) / 2;

    // later tokens are padding that no earlier one attends to
    io::Sample row{std::vector<std::int32_t>(length + 1, restart), {0}};
    std::copy(tokens.begin() + begin, tokens.end(), row.tokens.begin());
    const auto batch = io::local_batch({&row, 1}, io::RowRules{}, layout, mesh.ring_rank());

    const index_t last = index_t(tokens.size() - begin) - 1;
    const index_t mine = local_index(layout, mesh.ring_rank(), last);
    std::vector<double> logits(mine >= 0 ? vocabulary : 0);
    model.logits(batch, mine, logits);
    // every dp group draws the same token; its owner tells the others
    const index_t token = mine >= 0 ? sampled_token(std::move(logits), sampling, drawn) : -1;
    tokens.push_back(static_cast<std::int32_t>(comm::agree(mesh.world(), token, comm::Reduction::max)));
    each(tokens.back());
  }
}

}  // namespace annulus::eval
