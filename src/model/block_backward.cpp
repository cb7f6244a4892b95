#include "core/profile.hpp"
#include "model/linear.hpp"
#include "model/shape.hpp"
#include "model/transformer.hpp"
#include "ops/qk_norm_rope.hpp"
#include "ops/rms_norm.hpp"
#include "ops/swiglu.hpp"

namespace annulus::model {

/// residual_gradient() is d loss / d x' when it begins and d loss / d x when it ends: each branch adds its part.
template <class T>
void Transformer<T>::block_backward(index_t layer, Into into) {
  const Region region("annulus::model::block_backward");
  const Frame frame(memory_, exec(), "backward");
  const BlockWeights<const T>& w = weights_.blocks[layer];
  const BlockWeights<A>& dw = gradients_.blocks[layer];
  const SavedViews save = saved(layer);
  const Matrix<T> dx = residual_gradient(), dnormalised = by_token(buffers_.backward.dnormalised, width());
  const Vector<A> workspace = memory_.vector(buffers_.backward.norm);

  ops::RmsNorm<T>::forward(exec(), save.mid, w.ffn_norm, config_.model.norm_eps, normalised(), rstd());
  feed_forward_backward(layer, into, dx, dnormalised);
  ops::RmsNorm<T>::backward(exec(), dnormalised, save.mid, w.ffn_norm, rstd(), Into::add, dx, dw.ffn_norm, workspace);

  ops::RmsNorm<T>::forward(exec(), save.x, w.attention_norm, config_.model.norm_eps, normalised(), rstd());
  attention_backward(layer, into, dx, dnormalised);
  ops::RmsNorm<T>::backward(exec(), dnormalised, save.x, w.attention_norm, rstd(), Into::add, dx, dw.attention_norm,
                            workspace);
}

/// From dbranch, the gradient of what feed-forward added, to that of what it read.
template <class T>
void Transformer<T>::feed_forward_backward(index_t layer, Into into, Matrix<const T> dbranch, Matrix<T> dnormalised) {
  const Frame frame(memory_, exec(), "backward ffn");
  const BlockWeights<const T>& w = weights_.blocks[layer];
  const BlockWeights<A>& dw = gradients_.blocks[layer];
  const Matrix<T> gate_up = saved(layer).gate_up,
                  dgate_up = gate_up;  // the last use of it: its gradient takes its place
  const Matrix<T> hidden = by_token(buffers_.backward_ffn.hidden, ffn());
  const Matrix<T> dhidden = by_token(buffers_.backward_ffn.dhidden, ffn());

  ops::SwiGlu<T>::forward(exec(), gate_up, hidden);
  Linear<T>::weight_gradient(exec(), dbranch, hidden, into, dw.down);
  Linear<T>::input_gradient(exec(), dbranch, w.down, dhidden);
  ops::SwiGlu<T>::backward(exec(), dhidden, gate_up, dgate_up);
  Linear<T>::weight_gradient(exec(), dgate_up, normalised(), into, dw.gate_up);
  Linear<T>::input_gradient(exec(), dgate_up, w.gate_up, dnormalised);
}

/// From dbranch, the gradient of what attention added, to that of what it read.
template <class T>
void Transformer<T>::attention_backward(index_t layer, Into into, Matrix<const T> dbranch, Matrix<T> dnormalised) {
  const Frame frame(memory_, exec(), "backward attention");
  const BlockWeights<const T>& w = weights_.blocks[layer];
  const BlockWeights<A>& dw = gradients_.blocks[layer];
  const auto& scratch = buffers_.backward_attention;
  const SavedViews save = saved(layer);
  const Matrix<T> dqkv = save.qkv;  // the last use of it: its gradient takes its place
  const Matrix<T> q = by_token(scratch.q, q_width()), dout = by_token(scratch.dout, q_width());
  A* const dq = memory_.data(scratch.dq);

  Linear<T>::weight_gradient(exec(), dbranch, save.attention, into, dw.out);
  Linear<T>::input_gradient(exec(), dbranch, w.out, dout);
  form_heads(layer, q);
  const cp::KvBlock<const A> dkv =
      ring_attention_.backward(place_.streams, ring_batch(), q.data(), own_block(), save.attention.data(), dout.data(),
                               save.lse.data(), memory_.data(scratch.delta), dq, ring_scratch(scratch.ring));
  head_gradients(layer, dq, dkv, dqkv);
  Linear<T>::weight_gradient(exec(), dqkv, normalised(), into, dw.qkv);
  Linear<T>::input_gradient(exec(), dqkv, w.qkv, dnormalised);
}

template <class T>
void Transformer<T>::head_gradients(index_t layer, const A* dq, const cp::KvBlock<const A>& dkv, Matrix<T> dqkv) {
  const BlockWeights<A>& dw = gradients_.blocks[layer];
  const index_t per_row = batch_.tokens_per_row, head_dim = config_.model.head_dim;
  for (index_t row = 0; row < batch_.rows; ++row)
    ops::QkNormRope<T>::backward(exec(), head_inputs(layer, row), {dq + row * per_row * q_width(), q_width(), head_dim},
                                 dkv.keys(row), dkv.values(row),
                                 Matrix<T>(dqkv.data() + row * per_row * dqkv.extent(1), per_row, dqkv.extent(1)),
                                 dw.q_norm, dw.k_norm, memory_.vector(buffers_.backward_attention.qk_norm_rope));
}

template class Transformer<float>;
template class Transformer<double>;
template class Transformer<bf16>;

}  // namespace annulus::model
