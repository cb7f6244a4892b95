/// How fast attention is: causal, one row, all heads; operations are counted for the visible half only.
#pragma once
#include <string>
#include <vector>

#include "core/types.hpp"

namespace annulus::app {

struct AttentionRate {
  std::string kernel;  ///< "portable", ...
  std::string type;    ///< "fp32", "bf16"
  std::string pass;    ///< "forward", "forward+backward"
  index_t tokens;
  int q_heads, kv_heads, head_dim;
  double seconds;  ///< the fastest of several calls
  double gflops;   ///< forward: 2 products, forward+backward: 7, of half the tokens squared x head_dim
};

struct AttentionBench {
  index_t tokens = 2048;
  int q_heads = 4, kv_heads = 2;
  std::vector<int> head_dims = {32, 64, 128};
  int calls = 7;
};

/// Kokkos must be initialised.
std::vector<AttentionRate> attention_rates(const AttentionBench& bench);

}  // namespace annulus::app
