#include <cassert>
#include <cmath>

#include "core/profile.hpp"
#include "core/text.hpp"
#include "model/transformer.hpp"
#include "ops/embedding.hpp"
#include "ops/lm_loss.hpp"
#include "ops/rms_norm.hpp"

namespace annulus::model {

template <class T>
void Transformer<T>::accumulate(const cp::LocalBatch& batch, double weight, bool first, bool last) {
  const Region region("annulus::model::accumulate");
  const Frame frame(memory_, exec(), "micro-batch");
  const Into into = first ? Into::overwrite : Into::add;
  const auto complete = [&](const std::string& tensor) {  // the gradients of the bucket that holds it
    if (last) reduce(table_.tensor(tensor).bucket);
  };
  upload(batch);
  if (first) zero_what_is_added_to();

  forward();
  loss(weight, into);
  complete("final_norm.gain");
  for (index_t layer = layers() - 1; layer >= 0; --layer) {
    block_backward(layer, into);
    complete(text("layers.", layer, ".ffn_norm.gain"));
  }
  embedding_backward();
  complete("embedding.weight");
}

template <class T>
void Transformer<T>::upload(const cp::LocalBatch& batch) {
  assert(batch.tokens_per_row == place_.layout.count(place_.mesh.ring_rank()));
  batch_ = upload_.next(batch);
}

/// Projections overwrite their gradients in a step's first micro-batch; what their operators only add to begins at
/// zero.
template <class T>
void Transformer<T>::zero_what_is_added_to() {
  Kokkos::deep_copy(exec(), nll_sum_, 0);
  for (const Stretch& gains : gains_)
    Kokkos::deep_copy(exec(), Vector<A>(gradient_.data() + gains.begin, gains.count), 0);
  if (!config_.model.tied) Kokkos::deep_copy(exec(), gradients_.embedding, 0);
}

template <class T>
void Transformer<T>::forward() {
  const Region region("annulus::model::forward");
  const Frame frame(memory_, exec(), "forward");
  const Matrix<T> x = residual(0);
  ops::Embedding<T>::forward(exec(), batch_.tokens, weights_.embedding, x);
  ops::RmsNorm<T>::forward(exec(), x, weights_.blocks[0].attention_norm, config_.model.norm_eps, normalised(), rstd());
  for (index_t layer = 0; layer < layers(); ++layer) block_forward(layer);
}

/// The head, the loss and the last norm's backward: leaves the residual stream's gradient in dx.
template <class T>
void Transformer<T>::loss(double weight, Into into) {
  assert(std::isfinite(weight));
  const Region region("annulus::model::loss");
  const Frame frame(memory_, exec(), "loss");
  const Matrix<T> dx = residual_gradient();
  ops::LmLoss<T>::forward_backward(exec(), normalised(), weights_.head, batch_.labels, weight, dx, into,
                                   gradients_.head, nll_sum_, memory_.vector(buffers_.loss.head));
  ops::RmsNorm<T>::backward(exec(), dx, residual(layers()), weights_.final_norm, rstd(), Into::overwrite, dx,
                            gradients_.final_norm, memory_.vector(buffers_.loss.norm));
}

template <class T>
void Transformer<T>::embedding_backward() {
  const Region region("annulus::model::embedding_backward");
  const Frame frame(memory_, exec(), "embedding backward");
  ops::Embedding<T>::backward(exec(), batch_.tokens, residual_gradient(), gradients_.embedding,
                              memory_.vector(buffers_.embedding_backward.workspace));
}

template <class T>
void Transformer<T>::reduce(int bucket) {
  const Stretch whole = table_.buckets()[bucket], own = table_.owned(place_.mesh.rank(), bucket);
  reductions_.push_back(place_.mesh.reduce().reduce_scatter(exec(),
                                                            {gradient_.data() + whole.begin, whole.count, state_type()},
                                                            {gradient_.data() + own.begin, own.count, state_type()}));
}

template class Transformer<float>;
template class Transformer<double>;
template class Transformer<bf16>;

}  // namespace annulus::model
