/// Scaled dot-product attention over a part of the keys at a time, with the softmax carried along (Milakov & Gimelshein
/// 2018; Dao et al. 2022, FlashAttention; Liu et al. 2023, Ring Attention): a ring is one long flash loop.
///
/// For each query i: out_i = sum_j p_ij v_j, p_ij = exp(scale q_i k_j - lse_i), over the keys j with
/// visible_begin[i] <= order_j < visible_end[i]. A query that sees no key gets out = 0, lse = -inf and no gradients.
#pragma once
#include <concepts>
#include <memory>
#include <string>

#include "core/views.hpp"

namespace annulus::ops {

/// (tokens, heads, head_dim) with strides of tokens and heads: a part of a fused buffer keeps its pitch.
template <class T>
struct Heads {
  T* data;
  index_t token_stride, head_stride;  ///< in elements; head_dim is contiguous
  KOKKOS_FORCEINLINE_FUNCTION T* at(index_t token, int head) const {
    return data + token * token_stride + head * head_stride;
  }
  template <std::same_as<const T> Const>  // nvcc warns of a plain operator that would convert to its own class
  operator Heads<Const>() const {
    return {data, token_stride, head_stride};
  }
};

/// Consecutive stretches of a row: local tokens, in the order they lie in memory, and the order of each stretch's
/// first.
struct Stretches {
  static constexpr int most = 8;
  struct Stretch {
    index_t order, count;
  };
  Stretch stretch[most];
  int size = 0;
  KOKKOS_INLINE_FUNCTION index_t tokens() const {
    index_t sum = 0;
    for (int s = 0; s < size; ++s) sum += stretch[s].count;
    return sum;
  }
};

struct AttentionShape {
  int q_heads, kv_heads;  ///< kv_heads divides q_heads; query head h reads kv head h / (q_heads / kv_heads)
  int head_dim;
  double scale;  ///< of the logits, usually 1 / sqrt(head_dim)
};

/// Which tokens meet: queries and keys of one row.
struct AttentionTokens {
  Stretches queries, keys;
  const index_t* visible_begin;  ///< (queries), device memory; non-decreasing within a stretch
  const index_t* visible_end;    ///< (queries), device memory; non-decreasing within a stretch
};

/// One block of keys in a pass over all blocks. begin: the state is empty before it. finish: out and lse are written.
struct BlockPass {
  bool begin = true, finish = true;
};

/// One implementation; T is the compute type. Nothing here fences or allocates; results do not depend on concurrency.
template <class T>
class Attention {
 public:
  using A = Accum<T>;
  virtual ~Attention() = default;
  /// "reference", "portable", later "sm80", "sm90".
  virtual const char* name() const = 0;

  /// Elements of A that forward carries between blocks; with begin and finish in one call the state is not touched.
  virtual index_t state_size(const AttentionShape& shape, index_t queries) const = 0;
  virtual index_t backward_workspace_size(const AttentionShape& shape, index_t queries, index_t keys) const = 0;

  ///   q         (queries, q_heads, d)   in
  ///   k, v      (keys, kv_heads, d)     in
  ///   state     (state_size)            in and out; belongs to this implementation
  ///   out       (queries, q_heads, d)   out, when finish
  ///   lse       (q_heads, queries)      out, when finish: natural logarithm
  virtual void forward(const Exec& exec, const AttentionShape& shape, const AttentionTokens& tokens, Heads<const T> q,
                       Heads<const T> k, Heads<const T> v, BlockPass pass, A* state, Heads<T> out, A* lse) const = 0;

  /// delta = rowsum(out * dout): what backward needs of the output, the same for every block of keys.
  ///   delta     (q_heads, queries)      out
  virtual void row_dots(const Exec& exec, const AttentionShape& shape, index_t queries, Heads<const T> out,
                        Heads<const T> dout, A* delta) const = 0;

  /// One block's part of the gradients.
  ///   dout      (queries, q_heads, d)   in
  ///   lse       (q_heads, queries)      in, of all blocks together
  ///   delta     (q_heads, queries)      in
  ///   dq        (queries, q_heads, d)   out, or in and out, as into_dq says
  ///   dk, dv    (keys, kv_heads, d)     out, or in and out, as into_dkv says
  virtual void backward(const Exec& exec, const AttentionShape& shape, const AttentionTokens& tokens, Heads<const T> q,
                        Heads<const T> k, Heads<const T> v, Heads<const T> dout, const A* lse, const A* delta,
                        Into into_dq, Heads<A> dq, Into into_dkv, Heads<A> dk, Heads<A> dv, A* workspace) const = 0;
};

/// The implementation that a deck's attention.kernel names ("auto": the fastest that supports the shape). Throws
/// Refused, saying why, where a named one does not support it.
template <class T>
std::unique_ptr<Attention<T>> attention_kernel(const std::string& kernel, const AttentionShape& shape);

}  // namespace annulus::ops
