/// What the portable kernels share: one launch each over tiles of one stretch.
#pragma once
#include "ops/attention_launch.hpp"
#include "ops/attention_tiles.hpp"

namespace annulus::ops {

/// The numbers of a shape that kernels read.
template <class A>
struct TileShape {
  int heads;  ///< of the side that is divided among workers
  int group;  ///< query heads that read a key head
  int dims;
  A scale;
  TileSizes sizes;
};

template <class T>
struct ForwardOperands {
  HeadRows<const T> q, k, v;
  HeadRows<T> out;
  BlockPass pass;
  Accum<T>*state, *lse;
};

template <class T>
struct BackwardOperands {
  HeadRows<const T> q, k, v, dout;
  const Accum<T>*lse, *delta;
};

template <class T>
void portable_forward(const Exec& exec, const AttentionShape& shape, const AttentionTokens& tokens,
                      const ForwardOperands<T>& operands);
template <class T>
void portable_backward_q(const Exec& exec, const AttentionShape& shape, const AttentionTokens& tokens,
                         const BackwardOperands<T>& operands, Into into, HeadRows<Accum<T>> dq);
template <class T>
void portable_backward_kv(const Exec& exec, const AttentionShape& shape, const AttentionTokens& tokens,
                          const BackwardOperands<T>& operands, Into into, HeadRows<Accum<T>> dk, HeadRows<Accum<T>> dv);

}  // namespace annulus::ops
