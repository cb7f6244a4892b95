/// The parameters of the Llama family (Touvron et al. 2023), in the reverse of the order in which their gradients
/// complete: the embedding comes first, unless it is tied to the head, which begins its gradient, while the lookup ends
/// it.
#include <cmath>

#include "core/error.hpp"
#include "core/text.hpp"
#include "model/model.hpp"

namespace annulus::model {

namespace {

void refuse_impossible_shapes(const ModelConfig& config) {
  const ModelKeys& m = config.model;
  if (m.layers < 1 || m.width < 1 || m.heads < 1 || m.kv_heads < 1 || m.head_dim < 1 || config.vocabulary < 1)
    throw Refused(text("a model needs at least one layer, head and token id, and a width; got layers = ", m.layers,
                       ", width = ", m.width, ", heads = ", m.heads, ", kv_heads = ", m.kv_heads,
                       ", head_dim = ", m.head_dim, ", vocabulary = ", config.vocabulary));
  if (m.heads % m.kv_heads != 0)
    throw Refused(text("model.heads = ", m.heads, " is not a multiple of model.kv_heads = ", m.kv_heads));
  if (m.head_dim % 2 != 0)
    throw Refused(text("model.head_dim = ", m.head_dim, " is odd, and RoPE rotates pairs: use an even number"));
}

/// Adds tensors under a common prefix. Norm gains come first in a bucket and projections after them, so that what
/// decays is one stretch, and what does not another.
struct Writer {
  ParameterTable& table;
  std::string prefix;

  void gain(const std::string& name, index_t width) {
    table.add({.name = prefix + name + ".gain", .shape = {width}, .count = width, .initial = {.constant = 1}});
  }
  void matrix(const std::string& name, index_t out, index_t in, double deviation, bool aligned = true) {
    table.add({.name = prefix + name + ".weight",
               .shape = {out, in},
               .count = out * in,
               .decays = true,
               .initial = {.deviation = deviation}},
              aligned);
  }
};

void add_layer(ParameterTable& table, index_t layer, const ModelKeys& m) {
  const index_t q_width = m.heads * m.head_dim, kv_width = m.kv_heads * m.head_dim, ffn = m.ffn_width();
  const double deviation = m.init_deviation;
  // each layer adds two branches to the residual stream: their sum shall not grow with depth (Radford et al. 2019)
  const double branch_deviation = deviation / std::sqrt(2.0 * m.layers);
  constexpr bool fused = false;  // not aligned: follows the tensor before it without a gap
  Writer add{table, text("layers.", layer, ".")};

  table.begin_bucket();
  add.gain("attention_norm", m.width);
  if (m.qk_norm) {
    add.gain("attention.q_norm", m.head_dim);
    add.gain("attention.k_norm", m.head_dim);
  }
  add.gain("ffn_norm", m.width);
  add.matrix("attention.q", q_width, m.width, deviation);
  add.matrix("attention.k", kv_width, m.width, deviation, fused);
  add.matrix("attention.v", kv_width, m.width, deviation, fused);
  add.matrix("attention.out", m.width, q_width, branch_deviation);
  add.matrix("ffn.gate", ffn, m.width, deviation);
  add.matrix("ffn.up", ffn, m.width, deviation, fused);
  add.matrix("ffn.down", m.width, ffn, branch_deviation);
}

}  // namespace

ParameterTable parameter_table(const ModelConfig& config, int world) {
  refuse_impossible_shapes(config);
  const ModelKeys& m = config.model;
  ParameterTable table(world);
  Writer add{table, ""};
  const auto add_embedding = [&] {
    table.begin_bucket();
    add.matrix("embedding", config.vocabulary, m.width, m.init_deviation);
  };

  if (!m.tied) add_embedding();
  for (index_t layer = 0; layer < m.layers; ++layer) add_layer(table, layer, m);
  table.begin_bucket();
  add.gain("final_norm", m.width);
  if (!m.tied) add.matrix("head", config.vocabulary, m.width, m.init_deviation);
  if (m.tied) add_embedding();
  table.close();
  return table;
}

}  // namespace annulus::model
