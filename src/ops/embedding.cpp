#include "ops/embedding.hpp"

#include "core/lanes.hpp"

namespace annulus::ops {

namespace {

/// Stretches of tokens that are sorted by id side by side. The result does not depend on how many there are.
constexpr index_t stretches = on_gpu ? 64 : 8;

/// The tokens in order of their ids, those of one id in their own order (a counting sort, Knuth vol. 3, 5.2 D).
struct Occurrences {
  index_t tokens, vocabulary;
  std::int32_t* token;  ///< (tokens)
  std::int32_t* end;    ///< (vocabulary, stretches): where the occurrences of an id in a stretch end in `token`

  KOKKOS_FORCEINLINE_FUNCTION index_t first_of(index_t id) const { return id == 0 ? 0 : end[id * stretches - 1]; }
  KOKKOS_FORCEINLINE_FUNCTION index_t end_of(index_t id) const { return end[id * stretches + stretches - 1]; }
  KOKKOS_FORCEINLINE_FUNCTION index_t first_in(index_t stretch) const { return stretch * tokens / stretches; }

  void sort(const Exec& exec, Vector<const std::int32_t> ids) const;
};

void Occurrences::sort(const Exec& exec, Vector<const std::int32_t> ids) const {
  const Occurrences at = *this;
  Kokkos::parallel_for(
      "annulus::ops::embedding_backward[zero]", Kokkos::RangePolicy<Exec>(exec, 0, vocabulary * stretches),
      KOKKOS_LAMBDA(index_t i) { at.end[i] = 0; });
  Kokkos::parallel_for(
      "annulus::ops::embedding_backward[count]", Kokkos::RangePolicy<Exec>(exec, 0, stretches),
      KOKKOS_LAMBDA(index_t s) {
        for (index_t t = at.first_in(s); t < at.first_in(s + 1); ++t) ++at.end[ids(t) * stretches + s];
      });
  Kokkos::parallel_scan(
      "annulus::ops::embedding_backward[offsets]", Kokkos::RangePolicy<Exec>(exec, 0, vocabulary * stretches),
      KOKKOS_LAMBDA(index_t i, std::int32_t & before, bool last) {
        const std::int32_t count = at.end[i];
        if (last) at.end[i] = before;
        before += count;
      });
  Kokkos::parallel_for(
      "annulus::ops::embedding_backward[place]", Kokkos::RangePolicy<Exec>(exec, 0, stretches),
      KOKKOS_LAMBDA(index_t s) {
        for (index_t t = at.first_in(s); t < at.first_in(s + 1); ++t)
          at.token[at.end[ids(t) * stretches + s]++] = static_cast<std::int32_t>(t);
      });
}

}  // namespace

template <class T, class R>
index_t Embedding<T, R>::workspace_size(index_t tokens, index_t vocabulary) {
  return tokens + vocabulary * stretches;
}

template <class T, class R>
void Embedding<T, R>::forward(const Exec& exec, Vector<const std::int32_t> tokens, Matrix<const T> table, Matrix<R> x) {
  assert(x.extent(0) == tokens.extent(0) && x.extent(1) == table.extent(1));
  const RowSplit<T> row(x.extent(1), table, x);
  for_each_row(
      "annulus::ops::embedding_forward", exec, x.extent(0), KOKKOS_LAMBDA(const Worker& worker, index_t t) {
        const T* from = row_of(table, tokens(t));
        R* x_t = row_of(x, t);
        for_each_lanes(worker, row, [&](auto i) { store(x_t, i, load(from, i)); });
      });
}

template <class T, class R>
void Embedding<T, R>::backward(const Exec& exec, Vector<const std::int32_t> tokens, Matrix<const R> dx,
                               Matrix<Accum<T>> dtable, Vector<std::int32_t> workspace) {
  using A = Accum<T>;
  const index_t count = tokens.extent(0), vocabulary = dtable.extent(0), width = dtable.extent(1);
  assert(dx.extent(0) == tokens.extent(0) && dx.extent(1) == dtable.extent(1) && count <= 0x7fffffff);
  assert(index_t(workspace.extent(0)) >= workspace_size(count, vocabulary));
  const Occurrences at{count, vocabulary, workspace.data(), workspace.data() + count};
  at.sort(exec, tokens);

  constexpr index_t columns = warp_size * pack_size<A>;  // what a worker sums
  const index_t parts = (width + columns - 1) / columns;
  const RowSplit<A> row(width, dx, dtable);
  for_each_row(
      "annulus::ops::embedding_backward[sum]", exec, vocabulary * parts,
      KOKKOS_LAMBDA(const Worker& worker, index_t w) {
        const index_t id = w / parts, begin = w % parts * columns, first = at.first_of(id), end = at.end_of(id);
        if (first == end) return;
        A* dtable_id = row_of(dtable, id) + begin;
        for_each_lanes(worker, row.part(begin, columns), [&](auto i) {
          Pack<A, i.size> sum{};
          for (index_t n = first; n < end; ++n) sum = sum + load(row_of(dx, at.token[n]) + begin, i);
          store(dtable_id, i, load(dtable_id, i) + sum);
        });
      });
}

template struct Embedding<float>;
template struct Embedding<double>;
template struct Embedding<bf16>;
template struct Embedding<bf16, float>;

}  // namespace annulus::ops
