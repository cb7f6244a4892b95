/// What operators are told of a model's shape.
#pragma once
#include <cmath>

#include "model/keys.hpp"
#include "ops/attention.hpp"
#include "ops/qk_norm_rope.hpp"

namespace annulus::model {

inline ops::QkvShape qkv_shape(const ModelKeys& m) {
  return {static_cast<int>(m.heads), static_cast<int>(m.kv_heads), static_cast<int>(m.head_dim)};
}

inline ops::AttentionShape attention_shape(const ModelKeys& m) {
  return {static_cast<int>(m.heads), static_cast<int>(m.kv_heads), static_cast<int>(m.head_dim),
          1 / std::sqrt(static_cast<double>(m.head_dim))};
}

}  // namespace annulus::model
