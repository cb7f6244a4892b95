/// Deck keys of the model room: [model], [rope], [attention], [precision], [memory], [overlap].
#pragma once
#include <string>

#include "core/types.hpp"

namespace annulus::deck {
class Block;
}

namespace annulus::model {

struct ModelKeys {
  std::string family = "llama";
  index_t layers = 12, width = 768, heads = 12, kv_heads = 4;
  index_t head_dim = 64;
  index_t ffn = 0;         ///< 0: 8/3 width, rounded up to a multiple of 256
  index_t vocabulary = 0;  ///< 0: what the data's tokenizer has
  bool tied = true, qk_norm = true;
  double norm_eps = 1e-5, init_deviation = 0.02;
  void describe(deck::Block& block);
  /// ffn, with 0 resolved.
  index_t ffn_width() const { return ffn > 0 ? ffn : (8 * width / 3 + 255) / 256 * 256; }
};

struct RopeKeys {
  double theta = 10000;
  std::string scaling = "none";
  void describe(deck::Block& block);
};

struct AttentionKeys {
  std::string kernel = "auto", mask = "causal", rotator = "p2p", layout = "zigzag";
  index_t window = 0;  ///< tokens; 0: none
  void describe(deck::Block& block);
};

struct PrecisionKeys {
  std::string compute = "fp32";  ///< fp32 | fp64 | bf16
  void describe(deck::Block& block);
};

struct MemoryKeys {
  std::string policy = "keep";
  void describe(deck::Block& block);
};

/// No switch is built yet: all names are known and refused.
struct OverlapKeys {
  void describe(deck::Block& block);
};

}  // namespace annulus::model
