#include "core/bf16.hpp"
#include "core/profile.hpp"
#include "cp/ring_attention.hpp"

namespace annulus::cp {

template <class T>
KvBlock<const Accum<T>> RingAttention<T>::backward(const Streams& streams, const Batch& batch, const T* q,
                                                   const KvBlock<const T>& kv, const T* out, const T* dout,
                                                   const A* lse, A* delta, A* dq, const Scratch& scratch) {
  const Region region("annulus::cp::ring_backward");
  const Exec& compute = streams.compute();
  if (queries() == 0) {  // then no kernel writes this rank's part of any block's gradient
    const index_t most = layout_.max_count() * kv.per_token();
    Kokkos::deep_copy(compute, Vector<A>(scratch.gradient, most), A(0));
  } else {
    for (index_t row = 0; row < batch.rows; ++row)
      kernel_.row_dots(compute, shape_, queries(), query_row(out, row), query_row(dout, row),
                       statistics_row(delta, row));
  }

  rotator_.begin(streams, pass(batch, kv, kv.per_token(), scratch.rotator));
  for (int step = 0; step < rotator_.size(); ++step) {
    const Rotator::Block block = rotator_.block(step);
    const KvBlock<const T> there = held(kv, block);
    const KvBlock<A> gradient{scratch.gradient, there.rows, there.tokens, there.kv_heads, there.head_dim};
    if (queries() > 0 && there.tokens > 0)  // own block first: it is not empty either, and overwrites dq
      for (index_t row = 0; row < batch.rows; ++row)
        kernel_.backward(compute, shape_, meeting(batch, row, block.owner), query_row(q, row), there.keys(row),
                         there.values(row), query_row(dout, row), statistics_row(lse, row), statistics_row(delta, row),
                         step == 0 ? Into::overwrite : Into::add, query_row(dq, row), Into::overwrite,
                         gradient.keys(row), gradient.values(row), scratch.backward);
    rotator_.add_gradient(step, gradient.data);
  }
  return {static_cast<const A*>(rotator_.own_gradient()), kv.rows, kv.tokens, kv.kv_heads, kv.head_dim};
}

#define ANNULUS_BACKWARD(T)                                                                                \
  template KvBlock<const Accum<T>> RingAttention<T>::backward(const Streams&, const Batch&, const T*,      \
                                                              const KvBlock<const T>&, const T*, const T*, \
                                                              const Accum<T>*, Accum<T>*, Accum<T>*, const Scratch&);
ANNULUS_BACKWARD(float)
ANNULUS_BACKWARD(double)
ANNULUS_BACKWARD(bf16)
#undef ANNULUS_BACKWARD

}  // namespace annulus::cp
