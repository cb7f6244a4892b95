/// Attention of one rank's queries over the keys of all ranks of a ring (Liu et al. 2023, arXiv 2310.01889): one long
/// flash loop whose softmax state is carried from block to block in Accum<T>; no merge pass, no rounding between
/// blocks.
#pragma once
#include <concepts>
#include <string>
#include <vector>

#include "core/streams.hpp"
#include "cp/rotator.hpp"
#include "cp/sequence_layout.hpp"
#include "ops/attention.hpp"

namespace annulus::cp {

/// A rank's keys and values of all rows of a micro-batch, as they travel: (rows, 2, tokens, kv_heads, head_dim), keys
/// then values. The same shape in Accum<T> holds their gradients.
template <class T>
struct KvBlock {
  T* data;
  index_t rows, tokens;
  int kv_heads, head_dim;

  index_t half() const { return tokens * kv_heads * head_dim; }
  ops::Heads<T> keys(index_t row) const { return heads(2 * row); }
  ops::Heads<T> values(index_t row) const { return heads(2 * row + 1); }
  index_t size() const { return 2 * rows * half(); }
  /// Elements per token: what a Rotator is told.
  index_t per_token() const { return 2 * rows * kv_heads * head_dim; }
  template <std::same_as<const T> Const>  // nvcc warns of a plain operator that would convert to its own class
  operator KvBlock<Const>() const {
    return {data, rows, tokens, kv_heads, head_dim};
  }

 private:
  ops::Heads<T> heads(index_t h) const { return {data + h * half(), index_t(kv_heads) * head_dim, head_dim}; }
};

template <class T>
class RingAttention {
 public:
  using A = Accum<T>;

  /// What a pass works on: one rank's part of a micro-batch.
  struct Batch {
    index_t rows;
    const index_t* visible_begin;  ///< (rows, tokens) device memory
    const index_t* visible_end;    ///< (rows, tokens) device memory
  };
  /// Scratch of a pass, in elements or bytes, for the rank with the most tokens: for the memory plan.
  struct Workspace {
    index_t state = 0;     ///< elements of A: softmax state of all rows
    index_t backward = 0;  ///< elements of A: the kernel's own
    index_t gradient = 0;  ///< elements of A: one block's gradients of keys and values
    index_t rotator_bytes = 0;
  };

  /// All arguments outlive this.
  RingAttention(const ops::Attention<T>& kernel, const ops::AttentionShape& shape, const SequenceLayout& layout,
                Rotator& rotator);

  /// `rotator` is the deck name.
  static Workspace workspace(const ops::Attention<T>& kernel, const ops::AttentionShape& shape,
                             const SequenceLayout& layout, const std::string& rotator, index_t rows, bool backward);

  /// Device memory for the parts of `Workspace`.
  struct Scratch {
    A* state;
    A* backward;
    A* gradient;
    void* rotator;
  };

  ///   q    (rows, tokens, q_heads, d)   in, contiguous
  ///   kv   this rank's block            in
  ///   out  (rows, tokens, q_heads, d)   out, contiguous
  ///   lse  (rows, q_heads, tokens)      out
  void forward(const Streams& streams, const Batch& batch, const T* q, const KvBlock<const T>& kv, T* out, A* lse,
               const Scratch& scratch);

  ///   dout   (rows, tokens, q_heads, d)  in, contiguous
  ///   out, lse                           in, from forward
  ///   delta  (rows, q_heads, tokens)     scratch
  ///   dq     (rows, tokens, q_heads, d)  out, contiguous
  ///   returns the gradients of this rank's own block, over all ranks' queries; readable by compute() until the next
  ///   pass
  KvBlock<const A> backward(const Streams& streams, const Batch& batch, const T* q, const KvBlock<const T>& kv,
                            const T* out, const T* dout, const A* lse, A* delta, A* dq, const Scratch& scratch);

 private:
  index_t queries() const { return tokens_[rotator_.rank()]; }
  /// The block that a step works on, as this rank's own is shaped.
  KvBlock<const T> held(const KvBlock<const T>& own, const Rotator::Block& block) const {
    return {static_cast<const T*>(block.data), own.rows, tokens_[block.owner], own.kv_heads, own.head_dim};
  }
  /// One row of (rows, tokens, q_heads, d).
  template <class U>
  ops::Heads<U> query_row(U* data, index_t row) const {
    const index_t pitch = index_t(shape_.q_heads) * shape_.head_dim;
    return {data + row * queries() * pitch, pitch, shape_.head_dim};
  }
  /// One row of (rows, q_heads, tokens).
  template <class U>
  U* statistics_row(U* data, index_t row) const {
    return data + row * shape_.q_heads * queries();
  }
  /// A row's queries and the keys of `owner`.
  ops::AttentionTokens meeting(const Batch& batch, index_t row, int owner) const;
  Rotator::Pass pass(const Batch& batch, const KvBlock<const T>& own, index_t gradients_per_token,
                     void* workspace) const;

  const ops::Attention<T>& kernel_;
  ops::AttentionShape shape_;
  const SequenceLayout& layout_;
  Rotator& rotator_;
  std::vector<index_t> tokens_;  ///< of each rank
};

}  // namespace annulus::cp
