/// `annulus bench step`: a deck's optimizer step on random tokens, so that it needs no data.
#pragma once
#include <vector>

#include "app/bench_row.hpp"
#include "app/parallel_run.hpp"
#include "app/run_config.hpp"

namespace annulus::app {

/// The median of `steps` steps at the deck's mesh: tokens per second, and model FLOP/s (6 per parameter and token, and
/// 6 per head dimension, query head, layer and visible key, causal attention halved). Collective.
std::vector<BenchRow> bench_step(const RunConfig& config, ParallelRun& run, int steps);

}  // namespace annulus::app
