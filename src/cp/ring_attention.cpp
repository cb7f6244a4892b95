#include "cp/ring_attention.hpp"

#include <cassert>

#include "core/bf16.hpp"

namespace annulus::cp {

namespace {

static_assert(SequenceLayout::most_segments <= ops::Stretches::most);

ops::Stretches stretches(std::span<const Segment> segments) {
  ops::Stretches all;
  for (const Segment& segment : segments) all.stretch[all.size++] = {segment.begin, segment.count};
  return all;
}

}  // namespace

template <class T>
RingAttention<T>::RingAttention(const ops::Attention<T>& kernel, const ops::AttentionShape& shape,
                                const SequenceLayout& layout, Rotator& rotator)
    : kernel_(kernel), shape_(shape), layout_(layout), rotator_(rotator) {
  assert(layout.ranks() == rotator.size());
  for (int r = 0; r < layout.ranks(); ++r) tokens_.push_back(layout.count(r));
}

template <class T>
typename RingAttention<T>::Workspace RingAttention<T>::workspace(const ops::Attention<T>& kernel,
                                                                 const ops::AttentionShape& shape,
                                                                 const SequenceLayout& layout,
                                                                 const std::string& rotator, index_t rows,
                                                                 bool backward) {
  const index_t tokens = layout.max_count();
  const index_t elements = KvBlock<T>{nullptr, rows, tokens, shape.kv_heads, shape.head_dim}.size();
  const index_t gradient = backward ? elements : 0;
  Workspace sizes;
  if (layout.ranks() > 1)
    sizes.state = rows * kernel.state_size(shape, tokens);  // one block: begins and finishes in one
  if (backward) sizes.backward = kernel.backward_workspace_size(shape, tokens, tokens);
  sizes.gradient = gradient;
  sizes.rotator_bytes =
      rotator_workspace_bytes(rotator, layout.ranks(), elements * index_t(sizeof(T)), gradient * index_t(sizeof(A)));
  return sizes;
}

template <class T>
ops::AttentionTokens RingAttention<T>::meeting(const Batch& batch, index_t row, int owner) const {
  const index_t first = row * queries();
  return {stretches(layout_.segments(rotator_.rank())), stretches(layout_.segments(owner)), batch.visible_begin + first,
          batch.visible_end + first};
}

template <class T>
Rotator::Pass RingAttention<T>::pass([[maybe_unused]] const Batch& batch, const KvBlock<const T>& own,
                                     index_t gradients_per_token, void* workspace) const {
  assert(own.rows == batch.rows && own.tokens == queries());
  assert(own.kv_heads == shape_.kv_heads && own.head_dim == shape_.head_dim);
  return {.own = own.data,
          .tokens = tokens_.data(),
          .bytes_per_token = own.per_token() * index_t(sizeof(T)),
          .gradient_type = sizeof(A) == 8 ? Scalar::fp64 : Scalar::fp32,
          .gradients_per_token = gradients_per_token,
          .workspace = workspace};
}

template class RingAttention<float>;
template class RingAttention<double>;
template class RingAttention<bf16>;

}  // namespace annulus::cp
