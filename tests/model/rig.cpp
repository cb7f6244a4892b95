#include "model/rig.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <span>

#include "comm/mpi_communicator.hpp"
#include "comm/self_communicator.hpp"
#include "core/rng.hpp"
#include "support/ranks.hpp"

namespace annulus::test {

using namespace model;

ModelConfig small_model(index_t sequence_length, index_t micro_batch, bool tied) {
  ModelConfig config;
  config.model = {.layers = 2,
                  .width = 20,
                  .heads = 4,
                  .kv_heads = 2,
                  .head_dim = 8,
                  .ffn = 28,
                  .tied = tied,
                  .qk_norm = true,
                  .init_deviation = 0.3};
  config.precision.compute = "fp64";
  config.vocabulary = 31;
  config.sequence_length = sequence_length;
  config.micro_batch = micro_batch;
  return config;
}

Row text_row(const ModelConfig& config, index_t g, bool documents) {
  constexpr std::uint64_t seed = 7;
  Row row{{}, {0}};
  for (index_t i = 0; i <= config.sequence_length; ++i) {
    const double draw = uniform(seed, Draw::test, static_cast<std::uint32_t>(g), i);
    row.tokens.push_back(static_cast<std::int32_t>(draw * static_cast<double>(config.vocabulary)));
    if (documents && i > 0 && i < config.sequence_length && uniform(seed + 1, Draw::test, g, i) < 0.08)
      row.document_begins.push_back(i);
  }
  return row;
}

namespace {

/// The document that a token of a row belongs to: [begin, end).
Stretch document(const Row& row, index_t at) {
  const auto after = std::upper_bound(row.document_begins.begin(), row.document_begins.end(), at);
  const index_t end = after == row.document_begins.end() ? index_t(row.tokens.size()) - 1 : *after;
  return {*std::prev(after), end - *std::prev(after)};
}

/// The next token, unless it begins another document.
std::int32_t label(const Row& row, index_t at) {
  const bool begins = std::binary_search(row.document_begins.begin(), row.document_begins.end(), at + 1);
  return begins ? ignored_label : row.tokens[at + 1];
}

}  // namespace

index_t valid_tokens(const std::vector<Row>& rows) {
  index_t count = 0;
  for (const Row& row : rows)
    for (index_t at = 0; at + 1 < index_t(row.tokens.size()); ++at) count += label(row, at) != ignored_label;
  return count;
}

cp::LocalBatch split(const std::vector<Row>& rows, const cp::SequenceLayout& layout, int ring_rank) {
  cp::LocalBatch batch;
  batch.rows = rows.size();
  batch.tokens_per_row = layout.count(ring_rank);
  for (const Row& row : rows)
    for (index_t i = 0; i < batch.tokens_per_row; ++i) {
      const index_t at = layout.global(ring_rank, i);
      batch.tokens.push_back(row.tokens[at]);
      batch.labels.push_back(label(row, at));
      batch.positions.push_back(at - document(row, at).begin);
      batch.visible_begin.push_back(document(row, at).begin);
      batch.visible_end.push_back(at + 1);
    }
  return batch;
}

Rig::Rig(const ModelConfig& config, std::unique_ptr<comm::Communicator> world, comm::MeshShape shape)
    : mesh(std::move(world), shape),
      layout(cp::SequenceLayout::named(config.attention.layout, config.sequence_length, shape.ring)),
      rotator(cp::make_rotator(config.attention.rotator, mesh.ring())),
      model(make_model(config, {streams, mesh, layout, *rotator})) {}

Rig on_mesh(const ModelConfig& config, comm::MeshShape shape) { return Rig(config, comm::world_communicator(), shape); }

Rig alone(const ModelConfig& config) { return Rig(config, comm::self_communicator("alone"), {}); }

void accumulate(Rig& rig, const std::vector<std::vector<Row>>& micro_batches) {
  index_t valid = 0;
  for (const auto& rows : micro_batches) valid += valid_tokens(rows);
  const double weight = valid > 0 ? 1.0 / static_cast<double>(valid) : 0;
  const std::size_t first = rig.mesh.dp_rank(), apart = rig.mesh.shape().dp;
  for (std::size_t n = first; n < micro_batches.size(); n += apart)
    rig.model->accumulate(rig.local(micro_batches[n]), weight, n == first, n + apart >= micro_batches.size());
}

namespace {

template <class E>
std::vector<E> elements_of(const Model& model, Arena arena, Stretch stretch) {
  std::vector<E> values(stretch.count);
  model.read(arena, stretch, std::as_writable_bytes(std::span(values)));
  return values;
}

/// The upper half of a float's bits.
double from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

Scalar type_of(const Model& model, Arena arena) {
  return arena == Arena::compute ? model.compute_type() : model.state_type();
}

}  // namespace

Numbers elements(const Model& model, Arena arena, Stretch stretch) {
  const auto numbers = [](const auto& values) { return Numbers(values.begin(), values.end()); };
  switch (type_of(model, arena)) {
    case Scalar::fp64:
      return elements_of<double>(model, arena, stretch);
    case Scalar::fp32:
      return numbers(elements_of<float>(model, arena, stretch));
    default: {
      Numbers wide;
      for (const std::uint16_t bits : elements_of<std::uint16_t>(model, arena, stretch))
        wide.push_back(from_bf16(bits));
      return wide;
    }
  }
}

void set_elements(Model& model, Arena arena, index_t begin, const Numbers& values) {
  assert(type_of(model, arena) != Scalar::bf16);
  const Stretch stretch{begin, index_t(values.size())};
  const std::vector<float> narrow(values.begin(), values.end());
  model.write(
      arena, stretch,
      type_of(model, arena) == Scalar::fp64 ? std::as_bytes(std::span(values)) : std::as_bytes(std::span(narrow)));
}

std::map<std::string, Numbers> tensors(const Rig& rig, Arena arena) {
  const ParameterTable& table = rig.model->parameters();
  Numbers whole(table.size(), 0.0);
  for (int bucket = 0; bucket < static_cast<int>(table.buckets().size()); ++bucket) {
    const Stretch own = table.owned(rig.mesh.rank(), bucket);
    const Numbers part = elements(*rig.model, arena, own);
    std::copy(part.begin(), part.end(), whole.begin() + own.begin);
  }
  rig.mesh.world()
      .all_reduce(rig.streams.compute(), {whole.data(), index_t(whole.size()), Scalar::fp64}, comm::Reduction::sum)
      .wait(rig.streams.compute());

  std::map<std::string, Numbers> found;
  for (const Tensor& tensor : table.tensors())
    found[tensor.name] = Numbers(whole.begin() + tensor.offset, whole.begin() + tensor.offset + tensor.count);
  return found;
}

}  // namespace annulus::test
