/// The parts of a run, made from its deck in the order in which they need each other.
#pragma once
#include <memory>

#include "app/run_config.hpp"
#include "app/seams.hpp"
#include "comm/mesh.hpp"
#include "core/streams.hpp"
#include "cp/rotator.hpp"
#include "cp/sequence_layout.hpp"
#include "io/loader.hpp"
#include "model/model.hpp"
#include "train/optimizer_step.hpp"

namespace annulus::app {

class Assembly {
 public:
  /// Collective over `world`, which must have the deck's number of ranks. `streams` outlives this. Opens all data
  /// before it allocates anything. Throws Refused.
  Assembly(const RunConfig& config, std::unique_ptr<comm::Communicator> world, const Streams& streams,
           const Seams& seams);
  /// The same on training data that the caller made, without validation.
  Assembly(const RunConfig& config, std::unique_ptr<comm::Communicator> world, const Streams& streams,
           const Seams& seams, std::unique_ptr<io::Loader> training);

  const comm::Mesh& mesh() const { return mesh_; }
  const cp::SequenceLayout& layout() const { return layout_; }
  const io::Loader& training() const { return *training_; }
  /// nullptr where the deck names no validation data.
  const io::Loader* validation() const { return validation_.get(); }
  const cp::Rotator& rotator() const { return *rotator_; }
  model::Model& model() { return *model_; }
  train::Feed feed() { return {mesh_, layout_, *model_, *training_}; }

 private:
  Assembly(const RunConfig& config, std::unique_ptr<comm::Communicator> world, const Streams& streams,
           const Seams& seams, std::unique_ptr<io::Loader> training, std::unique_ptr<io::Loader> validation);

  comm::Mesh mesh_;
  cp::SequenceLayout layout_;
  std::unique_ptr<io::Loader> training_, validation_;
  std::unique_ptr<cp::Rotator> rotator_;
  std::unique_ptr<model::Model> model_;
};

}  // namespace annulus::app
