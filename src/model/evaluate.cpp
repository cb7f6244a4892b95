#include <algorithm>
#include <cassert>
#include <vector>

#include "core/profile.hpp"
#include "model/linear.hpp"
#include "model/transformer.hpp"
#include "ops/lm_loss.hpp"

namespace annulus::model {

namespace {

/// Blocks until the values are here.
template <class A>
void download(const Exec& exec, Vector<const A> values, std::span<double> out) {
  std::vector<A> host(values.extent(0));
  Kokkos::deep_copy(exec, Kokkos::View<A*, Kokkos::HostSpace>(host.data(), host.size()), values);
  exec.fence("annulus::model::evaluate[the values are here]");
  std::copy(host.begin(), host.end(), out.begin());
}

}  // namespace

template <class T>
void Transformer<T>::evaluate(const cp::LocalBatch& batch, std::span<double> nll) {
  const Region region("annulus::model::evaluate");
  const Frame micro_batch(memory_, exec(), "micro-batch");
  upload(batch);
  assert(index_t(nll.size()) == batch_.size());
  forward();
  const Frame frame(memory_, exec(), "evaluate");
  const Vector<A> values = memory_.vector(buffers_.evaluate.nll, batch_.size());
  ops::LmLoss<T>::forward(exec(), normalised(), weights_.head, batch_.labels, values,
                          memory_.vector(buffers_.evaluate.head));
  download<A>(exec(), values, nll);
}

template <class T>
void Transformer<T>::logits(const cp::LocalBatch& batch, index_t local_token, std::span<double> logits) {
  const Region region("annulus::model::logits");
  const Frame micro_batch(memory_, exec(), "micro-batch");
  upload(batch);
  forward();
  if (local_token < 0) return;  // another rank has the token
  const Frame frame(memory_, exec(), "evaluate");
  assert(index_t(logits.size()) == config_.vocabulary && local_token < batch_.tokens_per_row);
  const Matrix<T> token(normalised().data() + local_token * width(), 1, width());
  const Matrix<A> values = memory_.matrix(buffers_.evaluate.logits, 1, config_.vocabulary);
  ops::Gemm<T, A>::run(exec(), token, ops::transposed(ops::Operand<const T>(weights_.head)), Into::overwrite, values);
  download<A>(exec(), Vector<A>(values.data(), values.size()), logits);
}

template class Transformer<float>;
template class Transformer<double>;
template class Transformer<bf16>;

}  // namespace annulus::model
