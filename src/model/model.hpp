/// A language model with its gradients and optimizer state on one rank of a mesh: what the trainer, evaluation,
/// verification and checkpoints see. The compute type is chosen at construction.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "comm/mesh.hpp"
#include "core/streams.hpp"
#include "cp/local_batch.hpp"
#include "cp/rotator.hpp"
#include "cp/sequence_layout.hpp"
#include "model/keys.hpp"
#include "model/memory_plan.hpp"
#include "model/parameters.hpp"

namespace annulus::model {

/// The arenas. `compute` is whole on every rank; of the others each rank holds its shard, packed bucket after bucket.
enum class Arena { compute, master, gradient, m, v };

/// Everything that fixes a model's buffers: what `plan` and a run are both built from.
struct ModelConfig {
  ModelKeys model;
  RopeKeys rope;
  AttentionKeys attention;
  PrecisionKeys precision;
  MemoryKeys memory;
  OverlapKeys overlap;
  index_t vocabulary = 0;
  index_t sequence_length = 0;  ///< T
  index_t micro_batch = 1;      ///< rows of a micro-batch
};

/// One optimizer step's settings.
struct Update {
  double lr, beta1, beta2, eps, decay, clip;
  index_t step;  ///< 1 for the first
};

/// What a step tells: the same on all ranks.
struct StepNumbers {
  double nll_sum = 0;        ///< over all tokens with a label, all ranks and micro-batches since the last update
  double gradient_norm = 0;  ///< before clipping
};

/// A step's numbers, which may still be on their way from the device.
class StepTicket {
 public:
  StepTicket(const StepNumbers& here) : here_(here) {}
  explicit StepTicket(std::function<StepNumbers()> arrive) : arrive_(std::move(arrive)) {}

  /// Whether they are here whenever update returns (hosts), so that nothing is gained by asking later. Alike on all
  /// ranks.
  bool at_hand() const { return !arrive_; }
  /// Blocks until they are here, and with them the end of the step.
  StepNumbers numbers() const { return arrive_ ? arrive_() : here_; }

 private:
  StepNumbers here_;
  std::function<StepNumbers()> arrive_;
};

class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelConfig& config() const = 0;
  virtual const ParameterTable& parameters() const = 0;
  virtual const MemoryPlan& plan() const = 0;
  /// "portable", "reference" ...: for the start block.
  virtual const char* attention_path() const = 0;
  /// Type of master, gradients and moments: fp32, or fp64 where that is the compute type.
  virtual Scalar state_type() const = 0;
  virtual Scalar compute_type() const = 0;

  /// Draws every parameter from the table's `initial` with this seed; zeroes the moments. The same on any mesh.
  virtual void initialise(std::uint64_t seed) = 0;

  /// Forward and backward of one micro-batch. `weight` is 1 / valid tokens of the whole step, over all ranks and
  /// micro-batches, and 0 where there are none. The first call of a step overwrites the gradients; in the last one each
  /// bucket is reduced over all ranks as soon as it is complete. Returns before the device is done.
  virtual void accumulate(const cp::LocalBatch& batch, double weight, bool first, bool last) = 0;
  /// Norm, clip, AdamW on the owned shard, gather of the compute copy. Collective. Returns before the device is done;
  /// the ticket is good until the second next step.
  virtual StepTicket update(const Update& update) = 0;
  /// As update, but changes no parameter: blocks, and returns the numbers. For verification.
  virtual StepNumbers gradients_only() = 0;

  /// Forward only: nll of each local token, 0 where it has no label. Collective over the ring.
  ///   nll  (rows, tokens_per_row)  out
  virtual void evaluate(const cp::LocalBatch& batch, std::span<double> nll) = 0;
  /// Forward only: logits of one local token of row 0. Collective over the ring; a rank that does not hold the token
  /// passes -1 and an empty span.
  virtual void logits(const cp::LocalBatch& batch, index_t local_token, std::span<double> logits) = 0;

  /// Copies between an arena's elements and host memory, in the arena's type (compute: compute_type(), else
  /// state_type()). Offsets are the table's, for all arenas; except for compute they must lie in this rank's shard.
  virtual void read(Arena arena, Stretch stretch, std::span<std::byte> out) const = 0;
  virtual void write(Arena arena, Stretch stretch, std::span<const std::byte> in) = 0;
  /// After master was written: rounds it into the compute copy of every rank. Collective.
  virtual void refresh_compute() = 0;
};

/// What a model is built on; all of it outlives the model.
struct Place {
  const Streams& streams;
  const comm::Mesh& mesh;
  const cp::SequenceLayout& layout;
  cp::Rotator& rotator;
};

/// The table of a model on a mesh of `world` ranks. Host code. Throws Refused for shapes that make no model.
ParameterTable parameter_table(const ModelConfig& config, int world);
/// What `make_model` will allocate on the rank that needs the most. Host code; needs neither Kokkos nor MPI running.
MemoryPlan memory_plan(const ModelConfig& config, const comm::MeshShape& mesh, const cp::SequenceLayout& layout);
/// Allocates everything, once, as memory_plan says.
std::unique_ptr<Model> make_model(const ModelConfig& config, const Place& place);

}  // namespace annulus::model
