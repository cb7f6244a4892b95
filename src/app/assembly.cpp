#include "app/assembly.hpp"

#include "app/inputs.hpp"
#include "comm/jittered_communicator.hpp"

namespace annulus::app {

namespace {

template <class Part>
std::unique_ptr<Part> decorated(const std::function<std::unique_ptr<Part>(std::unique_ptr<Part>)>& seam,
                                std::unique_ptr<Part> part) {
  return seam ? seam(std::move(part)) : std::move(part);
}

comm::MeshOptions mesh_options(const RunConfig& config, const Seams& seams) {
  return {comm::transport_named(config.mesh.transport),
          [jitter = config.debug.jitter, seed = static_cast<std::uint64_t>(config.run.seed),
           seam = seams.communicator](std::unique_ptr<comm::Communicator> group) {
            group = decorated(seam, std::move(group));
            return jitter > 0 ? comm::jittered_communicator(std::move(group), jitter, seed) : std::move(group);
          }};
}

std::unique_ptr<io::Loader> loader(const RunConfig& config, const std::string& path, const char* split, bool shuffle,
                                   const Seams& seams) {
  const io::RowRules rules{.causal = config.attention.mask == "causal",
                           .window = config.attention.window,
                           .restart_positions = config.data.restart_positions};
  return decorated(seams.loader, io::shard_loader(path, split, config.data, rules, config.run.seed, shuffle));
}

/// Null where the deck names none.
std::unique_ptr<io::Loader> validation_loader(const RunConfig& config, const Seams& seams) {
  if (config.data.validation.empty()) return nullptr;
  refuse_mixed_data(config);
  return loader(config, config.data.validation, "val", false, seams);
}

}  // namespace

Assembly::Assembly(const RunConfig& config, std::unique_ptr<comm::Communicator> world, const Streams& streams,
                   const Seams& seams)
    : Assembly(config, std::move(world), streams, seams, loader(config, config.data.train, "train", true, seams),
               validation_loader(config, seams)) {}

Assembly::Assembly(const RunConfig& config, std::unique_ptr<comm::Communicator> world, const Streams& streams,
                   const Seams& seams, std::unique_ptr<io::Loader> training)
    : Assembly(config, std::move(world), streams, seams, std::move(training), nullptr) {}

Assembly::Assembly(const RunConfig& config, std::unique_ptr<comm::Communicator> world, const Streams& streams,
                   const Seams& seams, std::unique_ptr<io::Loader> training, std::unique_ptr<io::Loader> validation)
    : mesh_(std::move(world), config.mesh_shape(), mesh_options(config, seams)),
      layout_(cp::SequenceLayout::named(config.attention.layout, config.data.sequence_length, mesh_.shape().ring)),
      training_(std::move(training)),
      validation_(std::move(validation)),
      rotator_(decorated(seams.rotator, cp::make_rotator(config.attention.rotator, mesh_.ring()))),
      model_(decorated(seams.model, model::make_model(config.model_config(training_->vocabulary()),
                                                      {streams, mesh_, layout_, *rotator_}))) {}

}  // namespace annulus::app
