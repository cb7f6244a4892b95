#include "model/buffers.hpp"

#include <algorithm>

#include "comm/nccl_communicator.hpp"
#include "core/text.hpp"
#include "model/batch_upload.hpp"
#include "model/numbers_download.hpp"
#include "model/shape.hpp"
#include "ops/adamw.hpp"
#include "ops/embedding.hpp"
#include "ops/gemm_description.hpp"
#include "ops/lm_loss.hpp"
#include "ops/rms_norm.hpp"

namespace annulus::model {

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
  Slot<V> pinned(const std::string& name, index_t count) {
    return reserved<V>(Lifetime::pinned, name, count, "the run");
  }
  template <class V>
  Slot<V> saved(const std::string& name, index_t count, const std::string& until) {
    return reserved<V>(Lifetime::saved, name, count, until);
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

namespace {

index_t largest_owned_part(const ParameterTable& table) {
  index_t most = 0;
  for (const Stretch& bucket : table.buckets()) most = std::max(most, bucket.count / table.world());
  return most;
}

/// What a context, the kernels that a run loads and Kokkos's scratch take: measured on an H200 (docs/verification.md).
constexpr index_t cuda_context = index_t(640) << 20;
constexpr index_t its_own = 0;  ///< only the library knows

void reserve_for_libraries(MemoryPlan& plan, int ranks) {
  const auto row = [&](const char* what, index_t bytes) {
    plan.reserve(Lifetime::library, what, bytes, "the end of the program");
  };
  if (on_gpu) {
    row("CUDA: context, kernels, Kokkos's scratch, about", cuda_context);
    row("products: workspace", ops::gemm_device_memory());
    if (ranks > 1) {
      row("NCCL: terms of sums", ranks * comm::nccl_slice_bytes);
      row("NCCL: channels", its_own);
      row("messages through pinned host memory, without NCCL", its_own);
    }
  } else {
    row("MPI: messages under way", its_own);
    row("Kokkos: scratch of teams", its_own);
    row("BLAS: packed operands", its_own);
  }
}

}  // namespace

/// What the sizes of buffers follow from.
template <class T>
struct Buffers<T>::Sizes {
  index_t tokens, tokens_per_row, width, ffn;
  ops::QkvShape qkv;
  index_t positions, vocabulary;
  RingWorkspace ring_forward, ring_backward;

  index_t q_width() const { return index_t(qkv.q_heads) * qkv.head_dim; }
  index_t kv_width() const { return index_t(qkv.kv_heads) * qkv.head_dim; }
  index_t norm_workspace() const { return ops::RmsNorm<T>::workspace_size(tokens, width); }
  index_t head_workspace() const { return ops::LmLoss<T>::workspace_size(tokens, width, vocabulary); }
};

template <class T>
Buffers<T>::Buffers(const ModelConfig& config, const comm::MeshShape& mesh, const cp::SequenceLayout& layout) {
  const ParameterTable table = parameter_table(config, mesh.size());
  const auto kernel = ops::attention_kernel<T>(config.attention.kernel, attention_shape(config.model));
  const auto ring = [&](bool backward) {
    return cp::RingAttention<T>::workspace(*kernel, attention_shape(config.model), layout, config.attention.rotator,
                                           config.micro_batch, backward);
  };
  const Sizes n{.tokens = config.micro_batch * layout.max_count(),
                .tokens_per_row = layout.max_count(),
                .width = config.model.width,
                .ffn = config.model.ffn_width(),
                .qkv = qkv_shape(config.model),
                .positions = config.sequence_length,
                .vocabulary = config.vocabulary,
                .ring_forward = ring(false),
                .ring_backward = ring(true)};
  Planner planner{plan};
  reserve_parameters(planner, table);
  reserve_inputs(planner, n);
  for (index_t layer = 0; layer < config.model.layers; ++layer) reserve_saves(planner, n, layer);
  last_x = planner.saved<T>("last_x", n.tokens * n.width, "loss");
  planner.frame("micro-batch", [&] {
    micro_batch.normalised = planner.scratch<T>("normalised", n.tokens * n.width);
    micro_batch.rstd = planner.scratch<A>("rstd", n.tokens);
    micro_batch.dx = planner.scratch<T>("dx", n.tokens * n.width);
    reserve_forward(planner, n);
    reserve_backward(planner, n);
    planner.frame("evaluate", [&] {
      evaluate.nll = planner.scratch<A>("nll", n.tokens);
      evaluate.logits = planner.scratch<A>("logits", n.vocabulary);
      evaluate.head = planner.scratch<A>("head workspace", n.head_workspace());
    });
  });
  planner.frame("update", [&] {
    const index_t workspace = ops::squared_norm_workspace(largest_owned_part(table));
    update.squared_norm = planner.scratch<double>("norm workspace", workspace);
  });
  reserve_for_libraries(plan, mesh.size());
}

template <class T>
void Buffers<T>::reserve_parameters(Planner& planner, const ParameterTable& table) {
  compute = planner.persistent<T>("parameters.compute", table.size());
  if (!std::is_same_v<T, A>) master = planner.persistent<A>("parameters.master", table.shard_size());
  gradient = planner.persistent<A>("parameters.gradient", table.size());
  m = planner.persistent<A>("optimizer.m", table.shard_size());
  v = planner.persistent<A>("optimizer.v", table.shard_size());
}

template <class T>
void Buffers<T>::reserve_inputs(Planner& planner, const Sizes& n) {
  cosines = planner.persistent<A>("rope.cosines", n.positions * n.qkv.head_dim / 2);
  sines = planner.persistent<A>("rope.sines", n.positions * n.qkv.head_dim / 2);
  sums = planner.persistent<double>("step.sums", 2);
  const index_t batch_bytes = BatchUpload::blocks * BatchUpload::block_bytes(n.tokens);
  batch = planner.persistent<std::byte>("batch", batch_bytes);
  packed_batch = planner.pinned<std::byte>("batch.packed", on_gpu ? batch_bytes : 0);
  downloaded_sums = planner.pinned<double>("step.downloaded_sums", NumbersDownload::count);
  kv = planner.persistent<T>("ring.kv", 2 * n.tokens * n.kv_width());
  rotator = planner.persistent<std::byte>("ring.rotator", n.ring_backward.rotator_bytes);
}

template <class T>
void Buffers<T>::reserve_saves(Planner& planner, const Sizes& n, index_t layer) {
  const std::string block = text("layers.", layer), until = block + " backward";
  layers.push_back({.x = planner.saved<T>(block + ".x", n.tokens * n.width, until),
                    .qkv = planner.saved<T>(block + ".qkv", n.tokens * n.qkv.width(), until),
                    .attention = planner.saved<T>(block + ".attention", n.tokens * n.q_width(), until),
                    .lse = planner.saved<A>(block + ".lse", n.tokens * n.qkv.q_heads, until),
                    .mid = planner.saved<T>(block + ".mid", n.tokens * n.width, until),
                    .gate_up = planner.saved<T>(block + ".gate_up", 2 * n.tokens * n.ffn, until)});
}

template <class T>
void Buffers<T>::reserve_forward(Planner& planner, const Sizes& n) {
  planner.frame("forward", [&] {
    forward.branch = planner.scratch<T>("branch", n.tokens * n.width);
    planner.frame("forward attention", [&] {
      forward_attention.q = planner.scratch<T>("q", n.tokens * n.q_width());
      forward_attention.ring = ring_scratch(planner, n.ring_forward);
    });
    planner.frame("forward ffn", [&] { forward_ffn.hidden = planner.scratch<T>("hidden", n.tokens * n.ffn); });
  });
}

template <class T>
void Buffers<T>::reserve_backward(Planner& planner, const Sizes& n) {
  planner.frame("loss", [&] {
    loss.head = planner.scratch<A>("head workspace", n.head_workspace());
    loss.norm = planner.scratch<A>("norm workspace", n.norm_workspace());
  });
  planner.frame("backward", [&] {
    backward.dnormalised = planner.scratch<T>("dnormalised", n.tokens * n.width);
    backward.norm = planner.scratch<A>("norm workspace", n.norm_workspace());
    planner.frame("backward ffn", [&] {
      backward_ffn.hidden = planner.scratch<T>("hidden", n.tokens * n.ffn);
      backward_ffn.dhidden = planner.scratch<T>("dhidden", n.tokens * n.ffn);
    });
    planner.frame("backward attention", [&] {
      backward_attention.q = planner.scratch<T>("q", n.tokens * n.q_width());
      backward_attention.dout = planner.scratch<T>("dout", n.tokens * n.q_width());
      backward_attention.dq = planner.scratch<A>("dq", n.tokens * n.q_width());
      backward_attention.delta = planner.scratch<A>("delta", n.tokens * n.qkv.q_heads);
      backward_attention.qk_norm_rope =
          planner.scratch<A>("qk norm workspace", ops::QkNormRope<T>::workspace_size(n.qkv, n.tokens_per_row));
      backward_attention.ring = ring_scratch(planner, n.ring_backward);
    });
  });
  planner.frame("embedding backward", [&] {
    embedding_backward.workspace =
        planner.scratch<std::int32_t>("workspace", ops::Embedding<T>::workspace_size(n.tokens, n.vocabulary));
  });
}

template <class T>
auto Buffers<T>::ring_scratch(Planner& planner, const RingWorkspace& workspace) -> RingScratch {
  return {planner.scratch<A>("ring.state", workspace.state), planner.scratch<A>("ring.backward", workspace.backward),
          planner.scratch<A>("ring.gradient", workspace.gradient)};
}

template struct Buffers<float>;
template struct Buffers<double>;
template struct Buffers<bf16>;

}  // namespace annulus::model
