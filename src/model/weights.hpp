/// A model's tensors in an arena of E, as operators take them: fused projections whole. E is `const T` for the compute
/// copy and Accum<T> for the gradients.
#pragma once
#include <string>
#include <vector>

#include "core/text.hpp"
#include "core/views.hpp"
#include "model/keys.hpp"
#include "model/parameters.hpp"

namespace annulus::model {

template <class E>
struct BlockWeights {
  Vector<E> attention_norm, ffn_norm;  ///< (width)
  Vector<E> q_norm, k_norm;            ///< (head_dim), or empty: no norm
  Matrix<E> qkv;                       ///< (q | k | v, width)
  Matrix<E> out;                       ///< (width, q_heads head_dim)
  Matrix<E> gate_up;                   ///< (gate | up, width)
  Matrix<E> down;                      ///< (width, ffn)
};

template <class E>
struct Weights {
  std::vector<BlockWeights<E>> blocks;
  Matrix<E> embedding, head;  ///< (vocabulary, width); one and the same where they are tied
  Vector<E> final_norm;       ///< (width)

  Weights(E* arena, const ParameterTable& table, const ModelKeys& m) {
    const auto vector = [&](const std::string& name) {
      const Tensor& tensor = table.tensor(name);
      return Vector<E>(arena + tensor.offset, tensor.count);
    };
    const auto matrix = [&](const std::string& first, index_t rows) {
      const Tensor& tensor = table.tensor(first);
      return Matrix<E>(arena + tensor.offset, rows, tensor.shape[1]);
    };
    const index_t q_width = m.heads * m.head_dim, kv_width = m.kv_heads * m.head_dim, ffn = m.ffn_width();

    for (index_t layer = 0; layer < m.layers; ++layer) {
      const std::string block = text("layers.", layer, ".");
      blocks.push_back({
          .attention_norm = vector(block + "attention_norm.gain"),
          .ffn_norm = vector(block + "ffn_norm.gain"),
          .q_norm = m.qk_norm ? vector(block + "attention.q_norm.gain") : Vector<E>(),
          .k_norm = m.qk_norm ? vector(block + "attention.k_norm.gain") : Vector<E>(),
          .qkv = matrix(block + "attention.q.weight", q_width + 2 * kv_width),
          .out = matrix(block + "attention.out.weight", m.width),
          .gate_up = matrix(block + "ffn.gate.weight", 2 * ffn),
          .down = matrix(block + "ffn.down.weight", m.width),
      });
    }
    const index_t vocabulary = table.tensor("embedding.weight").shape[0];
    embedding = matrix("embedding.weight", vocabulary);
    head = m.tied ? embedding : matrix("head.weight", vocabulary);
    final_norm = vector("final_norm.gain");
  }
};

}  // namespace annulus::model
