/// Rates of the seam's matrix products, in a model's shapes, beside oneDNN's called directly on the whole product with
/// all threads.
#pragma once
#include "app/bench_row.hpp"
#include "core/exec.hpp"

namespace annulus::app {

std::vector<BenchRow> bench_gemm(const Exec& exec);

}  // namespace annulus::app
