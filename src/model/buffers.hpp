/// Every buffer of a Llama model on one rank and its place in the memory plan. What `annulus plan` prints and what a
/// run allocates come from this one constructor; it needs neither Kokkos nor MPI running. Sizes are those of the rank
/// with the most tokens, on every rank.
#pragma once
#include <vector>

#include "comm/mesh.hpp"
#include "core/bf16.hpp"
#include "cp/ring_attention.hpp"
#include "cp/sequence_layout.hpp"
#include "model/memory.hpp"
#include "model/model.hpp"

namespace annulus::model {

struct Planner;

template <class T>
struct Buffers {
  using A = Accum<T>;

  Buffers(const ModelConfig& config, const comm::MeshShape& mesh, const cp::SequenceLayout& layout);

  MemoryPlan plan;

  // persistent
  Slot<T> compute;         ///< (table.size()) the parameters that operators read
  Slot<A> master;          ///< (table.shard_size()) empty where T is A: compute's owned parts are the master
  Slot<A> gradient;        ///< (table.size())
  Slot<A> m, v;            ///< (table.shard_size())
  Slot<A> cosines, sines;  ///< (sequence length, head_dim / 2)
  Slot<double> sums;       ///< squared norm of the gradients, sum of nll
  Slot<std::byte> batch;   ///< BatchUpload::blocks of block_bytes
  Slot<T> kv;              ///< the own block of keys and values: others may still be receiving it when a pass is over
  Slot<std::byte> rotator;
  Slot<std::byte> packed_batch;  ///< pinned, as batch; empty on hosts
  Slot<double> downloaded_sums;  ///< pinned, NumbersDownload::count

  /// What a block's backward needs of its forward; norms, rotated heads and `hidden` are formed again.
  struct Saved {
    Slot<T> x;          ///< (tokens, width) the residual stream before the block
    Slot<T> qkv;        ///< (tokens, q | k | v) before norm and rotation
    Slot<T> attention;  ///< (tokens, q_heads head_dim)
    Slot<A> lse;        ///< (rows, q_heads, tokens per row)
    Slot<T> mid;        ///< (tokens, width) the residual stream between attention and feed-forward
    Slot<T> gate_up;    ///< (tokens, 2 ffn)
  };
  std::vector<Saved> layers;
  Slot<T> last_x;  ///< (tokens, width) after the last block

  // scratch, by frame
  struct RingScratch {
    Slot<A> state, backward, gradient;
  };
  struct {
    Slot<T> normalised;  ///< (tokens, width) what a projection or the head reads
    Slot<A> rstd;        ///< (tokens)
    Slot<T> dx;          ///< (tokens, width) the residual stream's gradient
  } micro_batch;
  struct {
    Slot<T> branch;  ///< (tokens, width) what attention or feed-forward adds to the residual stream
  } forward;
  struct {
    Slot<T> q;
    RingScratch ring;
  } forward_attention;
  struct {
    Slot<T> hidden;  ///< (tokens, ffn)
  } forward_ffn;
  struct {
    Slot<A> head, norm;  ///< the operators' workspaces
  } loss;
  struct {
    Slot<T> dnormalised;  ///< (tokens, width)
    Slot<A> norm;
  } backward;
  struct {
    Slot<T> hidden, dhidden;  ///< (tokens, ffn)
  } backward_ffn;
  struct {
    Slot<T> q, dout;  ///< (tokens, q_heads head_dim)
    Slot<A> dq;       ///< the same
    Slot<A> delta;    ///< (rows, q_heads, tokens per row)
    Slot<A> qk_norm_rope;
    RingScratch ring;
  } backward_attention;
  struct {
    Slot<std::int32_t> workspace;
  } embedding_backward;
  struct {
    Slot<A> nll;     ///< (tokens)
    Slot<A> logits;  ///< (vocabulary) of one token
    Slot<A> head;
  } evaluate;
  struct {
    Slot<double> squared_norm;
  } update;

 private:
  using RingWorkspace = typename cp::RingAttention<T>::Workspace;
  struct Sizes;
  void reserve_parameters(Planner& planner, const ParameterTable& table);
  void reserve_inputs(Planner& planner, const Sizes& n);
  void reserve_saves(Planner& planner, const Sizes& n, index_t layer);
  void reserve_forward(Planner& planner, const Sizes& n);
  void reserve_backward(Planner& planner, const Sizes& n);
  static RingScratch ring_scratch(Planner& planner, const RingWorkspace& workspace);
};

}  // namespace annulus::model
