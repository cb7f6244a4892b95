#include "ops/lm_loss.hpp"

#include "core/exp2.hpp"
#include "core/lanes.hpp"
#include "ops/gemm.hpp"

namespace annulus::ops {

namespace {

/// Tokens whose logits exist together: they stay in a CPU's cache, and keep the products large enough.
constexpr index_t most_tokens = on_gpu ? 4096 : 256;

/// Where a chunk's logits and their gradients lie in the workspace; the same place where T holds what sums are carried
/// in.
template <class T>
struct Scratch {
  using A = Accum<T>;
  A* logits;   ///< (chunk, vocabulary)
  T* dlogits;  ///< (chunk, vocabulary)
  A* nll;      ///< (tokens)

  static index_t chunk_of(index_t tokens) { return Kokkos::min(tokens, most_tokens); }
  /// Elements of A for a chunk of logits, and of dlogits where they are apart; starts a multiple of 64 bytes apart.
  static index_t logits_size(index_t tokens, index_t vocabulary) {
    return (chunk_of(tokens) * vocabulary + 15) / 16 * 16;
  }
  static index_t size(index_t tokens, index_t vocabulary) {
    const index_t both = std::is_same_v<T, A> ? 1 : 2;
    return both * logits_size(tokens, vocabulary) + tokens;
  }

  Scratch(Vector<A> workspace, index_t tokens, index_t vocabulary) {
    assert(index_t(workspace.extent(0)) >= size(tokens, vocabulary));
    logits = workspace.data();
    A* next = logits + logits_size(tokens, vocabulary);
    if constexpr (std::is_same_v<T, A>) {
      dlogits = logits;
    } else {
      dlogits = reinterpret_cast<T*>(next);
      next += logits_size(tokens, vocabulary);
    }
    nll = next;
  }
};

/// nll of each row of logits; dlogits = (softmax - one at the label) * weight where dlogits is not null.
template <class T>
void cross_entropy(const Exec& exec, const Matrix<Accum<T>>& logits, const Vector<const std::int32_t>& labels,
                   double weight, T* dlogits, Accum<T>* nll) {
  using A = Accum<T>;
  const index_t tokens = logits.extent(0), vocabulary = logits.extent(1);
  const RowSplit<A> row(vocabulary, logits, Matrix<T>(dlogits, tokens, vocabulary));
  const A scale = static_cast<A>(weight);

  for_each_row(
      "annulus::ops::lm_loss[cross-entropy]", exec, tokens, KOKKOS_LAMBDA(const Worker& worker, index_t t) {
        A* z = row_of(logits, t);
        T* dz = dlogits + t * vocabulary;
        const std::int32_t label = labels(t);
        if (label == ignored_label) {
          if (dlogits) for_each_lanes(worker, row, [&](auto i) { store(dz, i, Pack<A, i.size>{}); });
          Kokkos::single(Kokkos::PerThread(worker), [&] { nll[t] = 0; });
          return;
        }
        const A z_label = z[label];
        const A most = row_max(worker, row, [&](auto i) { return load(z, i); });
        const A sum = row_sum(worker, row, [&](auto i) {
          const auto e = exp(load(z, i) - most);
          store(z, i, e);
          return e;
        });
        Kokkos::single(Kokkos::PerThread(worker), [&] { nll[t] = Kokkos::log(sum) + (most - z_label); });
        if (!dlogits) return;
        const A factor = scale / sum;
        for_each_lanes(worker, row, [&](auto i) {
          auto gradient = load(z, i) * factor;
          if (const index_t l = label - i.first; l >= 0 && l < i.size) gradient[l] -= scale;
          store(dz, i, gradient);
        });
      });
}

/// The rows first ... of a matrix.
template <class V>
V rows_from(const V& matrix, index_t first, index_t rows) {
  return V(matrix.data() + first * matrix.extent(1), rows, matrix.extent(1));
}

}  // namespace

template <class T>
index_t LmLoss<T>::workspace_size(index_t tokens, index_t, index_t vocabulary) {
  return Scratch<T>::size(tokens, vocabulary);
}

template <class T>
void LmLoss<T>::forward_backward(const Exec& exec, Matrix<const T> x, Matrix<const T> head,
                                 Vector<const std::int32_t> labels, double weight, Matrix<T> dx, Into into_dhead,
                                 Matrix<A> dhead, Vector<double> nll_sum, Vector<A> workspace) {
  const index_t tokens = x.extent(0), vocabulary = head.extent(0);
  assert(x.extent(1) == head.extent(1) && labels.extent(0) == x.extent(0));
  assert(dx.extent(0) == x.extent(0) && dx.extent(1) == x.extent(1));
  assert(dhead.extent(0) == head.extent(0) && dhead.extent(1) == head.extent(1));
  const Scratch<T> scratch(workspace, tokens, vocabulary);

  // without tokens too, dhead is written once
  for (index_t first = 0; first == 0 || first < tokens; first += most_tokens) {
    const index_t rows = Kokkos::min(most_tokens, tokens - first);
    const auto x_chunk = rows_from(x, first, rows);
    const Matrix<A> logits(scratch.logits, rows, vocabulary);
    const Matrix<const T> dlogits(scratch.dlogits, rows, vocabulary);
    Gemm<T, A>::run(exec, x_chunk, transposed(Operand<const T>(head)), Into::overwrite, logits);
    cross_entropy<T>(exec, logits, Kokkos::subview(labels, std::pair(first, first + rows)), weight, scratch.dlogits,
                     scratch.nll + first);
    Gemm<T>::run(exec, dlogits, head, Into::overwrite, rows_from(dx, first, rows));
    Gemm<T, A>::run(exec, transposed(Operand<const T>(dlogits)), x_chunk, first > 0 ? Into::add : into_dhead, dhead);
  }

  const Vector<const A> nll(scratch.nll, tokens);
  const RowSplit<double> row(tokens, nll);
  for_each_row(
      "annulus::ops::lm_loss[nll]", exec, 1, KOKKOS_LAMBDA(const Worker& worker, index_t) {
        const double sum = row_sum(worker, row, [&](auto i) { return widened(load(nll.data(), i)); });
        Kokkos::single(Kokkos::PerThread(worker), [&] { nll_sum(0) += sum; });
      });
}

template <class T>
void LmLoss<T>::forward(const Exec& exec, Matrix<const T> x, Matrix<const T> head, Vector<const std::int32_t> labels,
                        Vector<A> nll, Vector<A> workspace) {
  const index_t tokens = x.extent(0), vocabulary = head.extent(0);
  assert(x.extent(1) == head.extent(1) && labels.extent(0) == x.extent(0) && nll.extent(0) == x.extent(0));
  const Scratch<T> scratch(workspace, tokens, vocabulary);
  for (index_t first = 0; first < tokens; first += most_tokens) {
    const index_t rows = Kokkos::min(most_tokens, tokens - first);
    const Matrix<A> logits(scratch.logits, rows, vocabulary);
    Gemm<T, A>::run(exec, rows_from(x, first, rows), transposed(Operand<const T>(head)), Into::overwrite, logits);
    cross_entropy<T>(exec, logits, Kokkos::subview(labels, std::pair(first, first + rows)), 0, nullptr,
                     nll.data() + first);
  }
}

template struct LmLoss<float>;
template struct LmLoss<double>;
template struct LmLoss<bf16>;

}  // namespace annulus::ops
