/// Memory rates of the operators beside the rate of a copy, the most that two streams can have.
#pragma once
#include "app/bench_row.hpp"
#include "core/exec.hpp"

namespace annulus::app {

std::vector<BenchRow> bench_ops(const Exec& exec);

}  // namespace annulus::app
