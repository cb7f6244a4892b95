/// What a run is, before its first step: printed so that a log alone says what was trained and how.
#pragma once
#include "app/assembly.hpp"

namespace annulus::app {

/// One "name  value" line each for the mesh, layout, rotator, attention path, products, ranks x threads, parameters,
/// memory, data and schedule.
std::string start_block(const RunConfig& config, Assembly& parts);

}  // namespace annulus::app
