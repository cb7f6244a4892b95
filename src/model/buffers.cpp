#include "model/buffers.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "cp/ring_attention.hpp"
#include "model/shape.hpp"
#include "ops/adamw.hpp"
#include "ops/embedding.hpp"
#include "ops/lm_loss.hpp"
#include "ops/rms_norm.hpp"

namespace annulus::model {

namespace {

/// Reserves typed buffers in a plan.
struct Planner {
  MemoryPlan& plan;
  std::vector<std::string> frames{};

  template <class V>
  Slot<V> reserved(Lifetime lifetime, const std::string& name, index_t count, const std::string& until) {
    if (count == 0) return {lifetime, 0, 0};
    return {lifetime, plan.reserve(lifetime, name, count * index_t(sizeof(V)), until), count};
  }
  template <class V>
  Slot<V> persistent(const std::string& name, index_t count) {
    return reserved<V>(Lifetime::persistent, name, count, "the run");
  }
  template <class V>
  Slot<V> scratch(const std::string& name, index_t count) {
    return reserved<V>(Lifetime::scratch, name, count, frames.back());
  }
  template <class Contents>
  void frame(const std::string& name, const Contents& contents) {
    plan.open_frame(name);
    frames.push_back(name);
    contents();
    frames.pop_back();
    plan.close_frame();
  }
};

index_t largest_owned_part(const ParameterTable& table) {
  index_t most = 0;
  for (const Stretch& bucket : table.buckets()) most = std::max(most, bucket.count / table.world());
  return most;
}

}  // namespace

template <class T>
Buffers<T>::Buffers(const ModelConfig& config, const comm::MeshShape& mesh, const cp::SequenceLayout& layout) {
  const ModelKeys& m = config.model;
  const ParameterTable table = parameter_table(config, mesh.size());
  const ops::QkvShape qkv = qkv_shape(m);
  const index_t rows = config.micro_batch, n = rows * layout.max_count(), ffn = m.ffn_width();
  const index_t q_width = m.heads * m.head_dim, kv_width = m.kv_heads * m.head_dim;
  const auto kernel = ops::attention_kernel<T>(config.attention.kernel, attention_shape(m));
  const auto ring_workspace = [&](bool backward) {
    return cp::RingAttention<T>::workspace(*kernel, attention_shape(m), layout, config.attention.rotator, rows,
                                           backward);
  };
  Planner p{plan};

  compute = p.persistent<T>("parameters.compute", table.size());
  if (!std::is_same_v<T, A>) master = p.persistent<A>("parameters.master", table.shard_size());
  gradient = p.persistent<A>("parameters.gradient", table.size());
  this->m = p.persistent<A>("optimizer.m", table.shard_size());
  v = p.persistent<A>("optimizer.v", table.shard_size());
  cosines = p.persistent<A>("rope.cosines", config.sequence_length * m.head_dim / 2);
  sines = p.persistent<A>("rope.sines", config.sequence_length * m.head_dim / 2);
  sums = p.persistent<double>("step.sums", 2);
  tokens = p.persistent<std::int32_t>("batch.tokens", n);
  labels = p.persistent<std::int32_t>("batch.labels", n);
  positions = p.persistent<index_t>("batch.positions", n);
  visible_begin = p.persistent<index_t>("batch.visible_begin", n);
  visible_end = p.persistent<index_t>("batch.visible_end", n);
  kv = p.persistent<T>("ring.kv", 2 * n * kv_width);
  rotator = p.persistent<std::byte>("ring.rotator", ring_workspace(true).rotator_bytes);

  for (index_t layer = 0; layer < m.layers; ++layer) {
    const std::string block = text("layers.", layer);
    const auto saved = [&]<class V>(Slot<V>& slot, const char* name, index_t count) {
      slot = p.reserved<V>(Lifetime::saved, block + "." + name, count, block + " backward");
    };
    Saved& save = layers.emplace_back();
    saved(save.x, "x", n * m.width);
    saved(save.qkv, "qkv", n * qkv.width());
    saved(save.attention, "attention", n * q_width);
    saved(save.lse, "lse", n * m.heads);
    saved(save.mid, "mid", n * m.width);
    saved(save.gate_up, "gate_up", n * 2 * ffn);
  }
  last_x = p.reserved<T>(Lifetime::saved, "last_x", n * m.width, "loss");

  const auto ring_scratch = [&](bool with_backward) {
    const auto workspace = ring_workspace(with_backward);
    return RingScratch{p.scratch<A>("ring.state", workspace.state), p.scratch<A>("ring.backward", workspace.backward),
                       p.scratch<A>("ring.gradient", workspace.gradient)};
  };
  const index_t norm_workspace = ops::RmsNorm<T>::workspace_size(n, m.width);
  const index_t head_workspace = ops::LmLoss<T>::workspace_size(n, m.width, config.vocabulary);
  p.frame("micro-batch", [&] {
    micro_batch.normalised = p.scratch<T>("normalised", n * m.width);
    micro_batch.rstd = p.scratch<A>("rstd", n);
    micro_batch.dx = p.scratch<T>("dx", n * m.width);
    p.frame("forward", [&] {
      forward.branch = p.scratch<T>("branch", n * m.width);
      p.frame("forward attention", [&] {
        forward_attention.q = p.scratch<T>("q", n * q_width);
        forward_attention.ring = ring_scratch(false);
      });
      p.frame("forward ffn", [&] { forward_ffn.hidden = p.scratch<T>("hidden", n * ffn); });
    });
    p.frame("loss", [&] {
      loss.head = p.scratch<A>("head workspace", head_workspace);
      loss.norm = p.scratch<A>("norm workspace", norm_workspace);
    });
    p.frame("backward", [&] {
      backward.dnormalised = p.scratch<T>("dnormalised", n * m.width);
      backward.norm = p.scratch<A>("norm workspace", norm_workspace);
      p.frame("backward ffn", [&] {
        backward_ffn.hidden = p.scratch<T>("hidden", n * ffn);
        backward_ffn.dhidden = p.scratch<T>("dhidden", n * ffn);
      });
      p.frame("backward attention", [&] {
        backward_attention.q = p.scratch<T>("q", n * q_width);
        backward_attention.dout = p.scratch<T>("dout", n * q_width);
        backward_attention.dq = p.scratch<A>("dq", n * q_width);
        backward_attention.delta = p.scratch<A>("delta", n * m.heads);
        backward_attention.qk_norm_rope =
            p.scratch<A>("qk norm workspace", ops::QkNormRope<T>::workspace_size(qkv, layout.max_count()));
        backward_attention.ring = ring_scratch(true);
      });
    });
    p.frame("embedding backward", [&] {
      embedding_backward.workspace =
          p.scratch<std::int32_t>("embedding workspace", ops::Embedding<T>::workspace_size(n, config.vocabulary));
    });
    p.frame("evaluate", [&] {
      evaluate.nll = p.scratch<A>("nll", n);
      evaluate.logits = p.scratch<A>("logits", config.vocabulary);
      evaluate.head = p.scratch<A>("head workspace", head_workspace);
    });
  });
  p.frame("update", [&] {
    update.squared_norm = p.scratch<double>("norm workspace", ops::squared_norm_workspace(largest_owned_part(table)));
  });
}

template struct Buffers<float>;
template struct Buffers<double>;

}  // namespace annulus::model
