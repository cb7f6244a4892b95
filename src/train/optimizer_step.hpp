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

/// A step that was given to all ranks and may still be under way on their devices.
class StepUnderWay {
 public:
  StepUnderWay(model::StepTicket numbers, double weight) : numbers_(std::move(numbers)), weight_(weight) {}
  /// Whether the result was there when the step was; alike on all ranks.
  bool over() const { return numbers_.at_hand(); }
  /// Blocks until the step is over; allowed until the second next step begins. The same on all ranks.
  StepResult result() const;

 private:
  model::StepTicket numbers_;
  double weight_;  ///< of each nll in the loss
};

/// Collective over the mesh. Returns when all work has been given out.
StepUnderWay begin_step(const Feed& feed, const StepSamples& samples, const model::Update& update);
/// The same, and waits for its result.
StepResult optimizer_step(const Feed& feed, const StepSamples& samples, const model::Update& update);

}  // namespace annulus::train
