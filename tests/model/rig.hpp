/// Small models on a mesh, and sequences for them: what the tests of this room share.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/mesh.hpp"
#include "core/streams.hpp"
#include "cp/local_batch.hpp"
#include "cp/rotator.hpp"
#include "cp/sequence_layout.hpp"
#include "model/model.hpp"
#include "support/numbers.hpp"

namespace annulus::test {

/// Two layers of odd sizes, two query heads to a key head.
model::ModelConfig small_model(index_t sequence_length, index_t micro_batch, bool tied);

/// Row g of an endless text: the same on every mesh.
struct Row {
  std::vector<std::int32_t> tokens;      ///< (T + 1)
  std::vector<index_t> document_begins;  ///< ascending, first 0
};
Row text_row(const model::ModelConfig& config, index_t g, bool documents);
/// Tokens of the rows that have a label.
index_t valid_tokens(const std::vector<Row>& rows);
/// What a rank sees of the rows.
cp::LocalBatch split(const std::vector<Row>& rows, const cp::SequenceLayout& layout, int ring_rank);

/// A model with everything that it is built on.
struct Rig {
  /// Collective over `world`.
  Rig(const model::ModelConfig& config, std::unique_ptr<comm::Communicator> world, comm::MeshShape shape);

  Streams streams;
  comm::Mesh mesh;
  cp::SequenceLayout layout;
  std::unique_ptr<cp::Rotator> rotator;
  std::unique_ptr<model::Model> model;

  cp::LocalBatch local(const std::vector<Row>& rows) const { return split(rows, layout, mesh.ring_rank()); }
};

/// All ranks of the program as a mesh.
Rig on_mesh(const model::ModelConfig& config, comm::MeshShape shape);
/// This process alone, whatever it belongs to.
Rig alone(const model::ModelConfig& config);

/// Accumulates a step over micro-batches of consecutive rows; dp rank d takes micro-batches d, d + dp, ...
void accumulate(Rig& rig, const std::vector<std::vector<Row>>& micro_batches);

/// Every tensor of an arena, whole, on every rank. Collective.
std::map<std::string, Numbers> tensors(const Rig& rig, model::Arena arena);

/// An arena's elements on this rank, of whatever type, as fp64.
Numbers elements(const model::Model& model, model::Arena arena, model::Stretch stretch);
/// The arena's type is not bf16.
void set_elements(model::Model& model, model::Arena arena, index_t begin, const Numbers& values);

}  // namespace annulus::test
