/// One optimizer step of a mesh: the micro-batches of all its ranks, then the update.
#pragma once
#include "comm/mesh.hpp"
#include "cp/sequence_layout.hpp"
#include "io/loader.hpp"
#include "model/model.hpp"

namespace annulus::train {

/// A model with what feeds it.
struct Feed {
  const comm::Mesh& mesh;
  const cp::SequenceLayout& layout;
  model::Model& model;
  const io::Loader& loader;
};

/// Which samples a step takes. Micro-batch m of dp rank r holds samples first + (m dp + r) rows onwards, so that steps
/// of equal size see the same samples on any mesh.
struct StepSamples {
  index_t first, rows, accumulation;
  index_t count(const comm::MeshShape& mesh) const { return rows * accumulation * mesh.dp; }
};

struct StepResult {
  double loss;  ///< mean nll over all tokens with a label, of all ranks and micro-batches; 0 where there is none
  double gradient_norm;  ///< before clipping
};

/// Collective over the mesh; the same result on all ranks.
StepResult optimizer_step(const Feed& feed, const StepSamples& samples, const model::Update& update);

}  // namespace annulus::train
