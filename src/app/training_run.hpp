/// What `train` and `resume` share: everything but where the parameters come from.
#pragma once
#include <functional>

#include "app/assembly.hpp"
#include "app/command.hpp"
#include "app/deck_options.hpp"
#include "core/text.hpp"
#include "io/checkpoint.hpp"
#include "io/run_directory.hpp"

namespace annulus::app {

/// Fills the model and says where the run stands: counters, and the RoPE history so far. Collective.
using Beginning = std::function<io::CheckpointInfo(Assembly&)>;

/// Starts MPI and Kokkos, builds the run's parts, prints the start block and trains.
Exit training_run(const RunConfig& config, const Seams& seams, const Beginning& beginning);

}  // namespace annulus::app
