#include "core/profile.hpp"
#include "model/linear.hpp"
#include "model/shape.hpp"
#include "model/transformer.hpp"
#include "ops/qk_norm_rope.hpp"
#include "ops/residual_norm.hpp"
#include "ops/swiglu.hpp"

namespace annulus::model {

/// normalised() holds this layer's first norm when it begins and the next layer's, or the last norm, when it ends.
template <class T>
void Transformer<T>::block_forward(index_t layer) {
  const Region region("annulus::model::block_forward");
  const BlockWeights<const T>& w = weights_.blocks[layer];
  const Vector<const T> next_norm =
      layer + 1 < layers() ? weights_.blocks[layer + 1].attention_norm : weights_.final_norm;
  const SavedViews save = saved(layer);
  const Matrix<T> branch = by_token(buffers_.forward.branch, width());
  const double eps = config_.model.norm_eps;

  Linear<T>::forward(exec(), normalised(), w.qkv, save.qkv);
  attention_forward(layer);
  Linear<T>::forward(exec(), save.attention, w.out, branch);
  ops::ResidualNorm<T>::forward(exec(), save.x, branch, w.ffn_norm, eps, save.mid, normalised(), rstd());

  Linear<T>::forward(exec(), normalised(), w.gate_up, save.gate_up);
  feed_forward(layer, branch);
  ops::ResidualNorm<T>::forward(exec(), save.mid, branch, next_norm, eps, residual(layer + 1), normalised(), rstd());
}

template <class T>
void Transformer<T>::attention_forward(index_t layer) {
  const Frame frame(memory_, exec(), "forward attention");
  const Matrix<T> q = by_token(buffers_.forward_attention.q, q_width());
  const SavedViews save = saved(layer);
  form_heads(layer, q);
  ring_attention_.forward(place_.streams, ring_batch(), q.data(), own_block(), save.attention.data(), save.lse.data(),
                          ring_scratch(buffers_.forward_attention.ring));
}

template <class T>
void Transformer<T>::feed_forward(index_t layer, Matrix<T> branch) {
  const Frame frame(memory_, exec(), "forward ffn");
  const Matrix<T> hidden = by_token(buffers_.forward_ffn.hidden, ffn());
  ops::SwiGlu<T>::forward(exec(), saved(layer).gate_up, hidden);
  Linear<T>::forward(exec(), hidden, weights_.blocks[layer].down, branch);
}

template <class T>
void Transformer<T>::form_heads(index_t layer, Matrix<T> q) {
  const index_t head_dim = config_.model.head_dim, per_row = batch_.tokens_per_row;
  const cp::KvBlock<T> kv = own_block();
  place_.mesh.ring().release(kv.data, exec());  // the last pass may still be sending it
  for (index_t row = 0; row < batch_.rows; ++row)
    ops::QkNormRope<T>::forward(exec(), head_inputs(layer, row),
                                {q.data() + row * per_row * q_width(), q_width(), head_dim}, kv.keys(row),
                                kv.values(row));
}

template <class T>
auto Transformer<T>::head_inputs(index_t layer, index_t row) const -> typename ops::QkNormRope<T>::Inputs {
  const index_t per_row = batch_.tokens_per_row;
  const Matrix<T> qkv = saved(layer).qkv;
  return {.shape = qkv_shape(config_.model),
          .qkv = Matrix<const T>(qkv.data() + row * per_row * qkv.extent(1), per_row, qkv.extent(1)),
          .q_gain = weights_.blocks[layer].q_norm,
          .k_gain = weights_.blocks[layer].k_norm,
          .eps = config_.model.norm_eps,
          .positions = Vector<const index_t>(batch_.positions.data() + row * per_row, per_row),
          .cosines = cosines_,
          .sines = sines_};
}

template <class T>
cp::KvBlock<T> Transformer<T>::own_block() const {
  return {memory_.data(buffers_.kv), batch_.rows, batch_.tokens_per_row, static_cast<int>(config_.model.kv_heads),
          static_cast<int>(config_.model.head_dim)};
}

template <class T>
auto Transformer<T>::ring_batch() const -> typename cp::RingAttention<T>::Batch {
  return {batch_.rows, batch_.visible_begin.data(), batch_.visible_end.data()};
}

template <class T>
auto Transformer<T>::ring_scratch(const typename Buffers<T>::RingScratch& slots) const ->
    typename cp::RingAttention<T>::Scratch {
  return {memory_.data(slots.state), memory_.data(slots.backward), memory_.data(slots.gradient),
          memory_.data(buffers_.rotator)};
}

template <class T>
auto Transformer<T>::saved(index_t layer) const -> SavedViews {
  const auto& slots = buffers_.layers[layer];
  return {.x = by_token(slots.x, width()),
          .qkv = by_token(slots.qkv, qkv_shape(config_.model).width()),
          .attention = by_token(slots.attention, q_width()),
          .lse = memory_.vector(slots.lse, batch_.size() * config_.model.heads),
          .mid = by_token(slots.mid, width()),
          .gate_up = by_token(slots.gate_up, 2 * ffn())};
}

template class Transformer<float>;
template class Transformer<double>;
template class Transformer<bf16>;

}  // namespace annulus::model
