/// Everything outside of the deck that a run needs: looked at before the run, all of it, changing nothing.
#pragma once
#include <string>
#include <vector>

#include "app/run_config.hpp"

namespace annulus::app {

/// What would stop a run of this deck here, one sentence each: token shards that are missing, damaged or too short, ids
/// above the vocabulary, a shape that makes no model, an output directory that cannot be written.
std::vector<std::string> input_violations(const RunConfig& config);

}  // namespace annulus::app
