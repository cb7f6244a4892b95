#include <sstream>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "io/agreement.hpp"
#include "io/checkpoint.hpp"
#include "io/checkpoint_folder.hpp"

namespace annulus::io {

std::optional<CheckpointInfo> resume_newest(const std::filesystem::path& run, model::Model& model,
                                            comm::Communicator& world) {
  Agreement agreement(world);
  std::string steps;
  if (world.rank() == 0)
    for (const index_t step : checkpoint_steps(run)) steps += text(step, ' ');
  std::istringstream newest_first(agreement.of_first(steps));
  std::string last_failure;
  for (index_t step; newest_first >> step;) {
    try {
      return read_checkpoint(checkpoint_path(run, step), model, world);
    } catch (const BadCheckpoint& bad) {
      last_failure = bad.what();
      if (world.rank() == 0) log::warn(last_failure);
    }
  }
  if (last_failure.empty()) return {};
  throw BadCheckpoint(text("no checkpoint of ", run.string(), " can be used; the last one tried: ", last_failure));
}

}  // namespace annulus::io
