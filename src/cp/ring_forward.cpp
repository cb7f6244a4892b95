#include <algorithm>
#include <cassert>

#include "core/bf16.hpp"
#include "core/profile.hpp"
#include "cp/ring_attention.hpp"

namespace annulus::cp {

template <class T>
void RingAttention<T>::forward(const Streams& streams, const Batch& batch, const T* q, const KvBlock<const T>& kv,
                               T* out, A* lse, const Scratch& scratch) {
  const Region region("annulus::cp::ring_forward");
  const index_t state_size = kernel_.state_size(shape_, queries());
  // Empty blocks reach no kernel, so that the first and the last of the others begin and finish the pass, once.
  const auto blocks = std::count_if(tokens_.begin(), tokens_.end(), [](index_t tokens) { return tokens > 0; });
  int met = 0;

  rotator_.begin(streams, pass(batch, kv, 0, scratch.rotator));
  for (int step = 0; step < rotator_.size(); ++step) {
    const Rotator::Block block = rotator_.block(step);
    const KvBlock<const T> there = held(kv, block);
    if (queries() == 0 || there.tokens == 0) continue;
    const ops::BlockPass part{.begin = met == 0, .finish = met + 1 == blocks};
    ++met;
    for (index_t row = 0; row < batch.rows; ++row)
      kernel_.forward(streams.compute(), shape_, meeting(batch, row, block.owner), query_row(q, row), there.keys(row),
                      there.values(row), part, scratch.state + row * state_size, query_row(out, row),
                      statistics_row(lse, row));
  }
}

template void RingAttention<float>::forward(const Streams&, const Batch&, const float*, const KvBlock<const float>&,
                                            float*, float*, const Scratch&);
template void RingAttention<double>::forward(const Streams&, const Batch&, const double*, const KvBlock<const double>&,
                                             double*, double*, const Scratch&);
template void RingAttention<bf16>::forward(const Streams&, const Batch&, const bf16*, const KvBlock<const bf16>&, bf16*,
                                           float*, const Scratch&);

}  // namespace annulus::cp
