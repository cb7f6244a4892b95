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

  /// A thread counts, or places, a stretch.
  void count_by_threads(const Exec& exec, Vector<const std::int32_t> ids) const;
  void place_by_threads(const Exec& exec, Vector<const std::int32_t> ids) const;
  /// A team does, as many tokens at a time as it has threads.
  void by_teams(const char* label, const Exec& exec, Vector<const std::int32_t> ids, bool places) const;
};

void Occurrences::sort(const Exec& exec, Vector<const std::int32_t> ids) const {
  const Occurrences at = *this;
  Kokkos::parallel_for(
      "annulus::ops::embedding_backward[zero]", Kokkos::RangePolicy<Exec>(exec, 0, vocabulary * stretches),
      KOKKOS_LAMBDA(index_t i) { at.end[i] = 0; });
  if (on_gpu)
    by_teams("annulus::ops::embedding_backward[count]", exec, ids, false);
  else
    count_by_threads(exec, ids);
  Kokkos::parallel_scan(
      "annulus::ops::embedding_backward[offsets]", Kokkos::RangePolicy<Exec>(exec, 0, vocabulary * stretches),
      KOKKOS_LAMBDA(index_t i, std::int32_t & before, bool last) {
        const std::int32_t count = at.end[i];
        if (last) at.end[i] = before;
        before += count;
      });
  if (on_gpu)
    by_teams("annulus::ops::embedding_backward[place]", exec, ids, true);
  else
    place_by_threads(exec, ids);
}

void Occurrences::count_by_threads(const Exec& exec, Vector<const std::int32_t> ids) const {
  const Occurrences at = *this;
  Kokkos::parallel_for(
      "annulus::ops::embedding_backward[count]", Kokkos::RangePolicy<Exec>(exec, 0, stretches),
      KOKKOS_LAMBDA(index_t s) {
        for (index_t t = at.first_in(s); t < at.first_in(s + 1); ++t) ++at.end[ids(t) * stretches + s];
      });
}

void Occurrences::place_by_threads(const Exec& exec, Vector<const std::int32_t> ids) const {
  const Occurrences at = *this;
  Kokkos::parallel_for(
      "annulus::ops::embedding_backward[place]", Kokkos::RangePolicy<Exec>(exec, 0, stretches),
      KOKKOS_LAMBDA(index_t s) {
        for (index_t t = at.first_in(s); t < at.first_in(s + 1); ++t)
          at.token[at.end[ids(t) * stretches + s]++] = static_cast<std::int32_t>(t);
      });
}

void Occurrences::by_teams(const char* label, const Exec& exec, Vector<const std::int32_t> ids, bool places) const {
  constexpr int threads = on_gpu ? 256 : 1;
  const Occurrences at = *this;
  Kokkos::parallel_for(
      label,
      Kokkos::TeamPolicy<Exec>(exec, static_cast<int>(stretches), threads)
          .set_scratch_size(0, Kokkos::PerTeam(threads * sizeof(std::int32_t))),
      KOKKOS_LAMBDA(const Worker& team) {
        auto* const chunk = static_cast<std::int32_t*>(team.team_scratch(0).get_shmem(threads * sizeof(std::int32_t)));
        const index_t s = team.league_rank(), end = at.first_in(s + 1);
        const int me = team.team_rank();
        for (index_t first = at.first_in(s); first < end; first += threads) {
          const int size = static_cast<int>(Kokkos::min(end - first, index_t(threads)));
          if (me < size) chunk[me] = ids(first + me);
          team.team_barrier();
          int before = 0, after = 0;  // of my token's id, in this chunk
          index_t cell = 0;
          std::int32_t so_far = 0;
          if (me < size) {
            cell = chunk[me] * stretches + s;
            so_far = at.end[cell];
            for (int n = 0; n < size; ++n) {
              before += n < me && chunk[n] == chunk[me];
              after += n > me && chunk[n] == chunk[me];
            }
            if (places) at.token[so_far + before] = static_cast<std::int32_t>(first + me);
          }
          team.team_barrier();
          if (me < size && after == 0) at.end[cell] = so_far + before + 1;
          team.team_barrier();
        }
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
  constexpr int at_once = on_gpu ? 8 : 1;
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
          for (index_t n = first; n < end; n += at_once) {
            Pack<A, i.size> term[at_once];  // all on their way before the first is needed
            for (int k = 0; k < at_once; ++k)
              term[k] = load(row_of(dx, at.token[Kokkos::min(n + k, end - 1)]) + begin, i);
            for (int k = 0; k < at_once; ++k)
              if (n + k < end) sum = sum + term[k];
          }
          store(dtable_id, i, load(dtable_id, i) + sum);
        });
      });
}

template struct Embedding<float>;
template struct Embedding<double>;
template struct Embedding<bf16>;
template struct Embedding<bf16, float>;

}  // namespace annulus::ops
