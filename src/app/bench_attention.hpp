/// Attention beside a large matrix product. Operations are counted for the half of the keys that a causal mask leaves:
/// forward has 2 products of tokens^2 x head_dim / 2, forward and backward together 7.
#pragma once
#include "app/bench_row.hpp"
#include "core/exec.hpp"

namespace annulus::app {

std::vector<BenchRow> bench_attention(const Exec& exec);

}  // namespace annulus::app
