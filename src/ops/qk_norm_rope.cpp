#include "ops/qk_norm_rope.hpp"

#include <cassert>
#include <cmath>

#include "core/column_sums.hpp"

namespace annulus::ops {

namespace {

/// Tokens that leave one partial sum of the gains' gradients.
constexpr index_t block = on_gpu ? 1 : 32;

index_t blocks_of(index_t tokens) { return (tokens + block - 1) / block; }

/// What a kernel needs of the inputs, small enough to be captured.
template <class T>
struct Projection {
  using A = Accum<T>;
  const T* qkv;
  const T *q_gain, *k_gain;  // null: no norm
  const A *cosines, *sines;  // null: no rotation
  const index_t* positions;
  A eps;
  int q_heads, kv_heads;
  index_t half, width;

  explicit Projection(const typename QkNormRope<T>::Inputs& in)
      : qkv(in.qkv.data()),
        q_gain(in.q_gain.size() ? in.q_gain.data() : nullptr),
        k_gain(in.k_gain.size() ? in.k_gain.data() : nullptr),
        cosines(in.cosines.size() ? in.cosines.data() : nullptr),
        sines(in.sines.size() ? in.sines.data() : nullptr),
        positions(in.positions.data()),
        eps(static_cast<A>(in.eps)),
        q_heads(in.shape.q_heads),
        kv_heads(in.shape.kv_heads),
        half(in.shape.head_dim / 2),
        width(in.shape.width()) {
    assert(in.shape.head_dim % 2 == 0 && index_t(in.qkv.extent(1)) == width);
    assert((!q_gain || index_t(in.q_gain.size()) == 2 * half) && (!k_gain || index_t(in.k_gain.size()) == 2 * half));
    assert(!cosines == !sines && (!cosines || index_t(in.cosines.extent(1)) == half));
    assert(in.positions.size() == in.qkv.extent(0) || !cosines);
  }
  KOKKOS_FORCEINLINE_FUNCTION int heads() const { return q_heads + 2 * kv_heads; }
  KOKKOS_FORCEINLINE_FUNCTION bool is_query(int head) const { return head < q_heads; }
  KOKKOS_FORCEINLINE_FUNCTION bool is_value(int head) const { return head >= q_heads + kv_heads; }
  KOKKOS_FORCEINLINE_FUNCTION index_t place(index_t t, int head) const { return t * width + head * 2 * half; }
};

/// The elements k and k + d / 2 of a head, for one k or a pack of them.
template <class A, int N>
struct Pair {
  Pack<A, N> a, b;
};
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Pair<Accum<T>, N> load_pair(const T* head, index_t half, Lanes<N> i) {
  return {load(head, i), load(head + half, i)};
}
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION void store_pair(T* head, index_t half, Lanes<N> i, Pair<Accum<T>, N> x) {
  store(head, i, x.a);
  store(head + half, i, x.b);
}

/// Cosine and sine of each pair's angle at a token's position; 1 and 0 without rotation.
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Pair<Accum<T>, N> turn(const Projection<T>& in, index_t t, Lanes<N> i) {
  using P = Pack<Accum<T>, N>;
  if (!in.cosines) return {P{} + Accum<T>(1), P{}};
  const index_t row = in.positions[t] * in.half;
  return {load(in.cosines + row, i), load(in.sines + row, i)};
}
template <class A, int N>
KOKKOS_FORCEINLINE_FUNCTION Pair<A, N> turned(Pair<A, N> x, Pair<A, N> by) {
  return {x.a * by.a - x.b * by.b, x.b * by.a + x.a * by.b};
}
template <class A, int N>
KOKKOS_FORCEINLINE_FUNCTION Pair<A, N> turned_back(Pair<A, N> x, Pair<A, N> by) {
  return {x.a * by.a + x.b * by.b, x.b * by.a - x.a * by.b};
}

/// One head of one token.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void forward_head(const Worker& worker, const RowSplit<T>& row, const Projection<T>& in,
                                              const T* gain, index_t t, const T* from, T* to) {
  using A = Accum<T>;
  const index_t half = in.half;
  A rstd = 1;
  if (gain) {
    const A squares = row_sum(worker, row, [&](auto i) {
      const auto x = load_pair(from, half, i);
      return x.a * x.a + x.b * x.b;
    });
    rstd = 1 / Kokkos::sqrt(squares / A(2 * half) + in.eps);
  }
  for_each_lanes(worker, row, [&](auto i) {
    auto x = load_pair(from, half, i);
    if (gain) {
      const auto g = load_pair(gain, half, i);
      x = {x.a * rstd * g.a, x.b * rstd * g.b};
    }
    store_pair(to, half, i, turned(x, turn(in, t, i)));
  });
}

/// Likewise; dgain (d) gets the head's part added.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void backward_head(const Worker& worker, const RowSplit<T>& row, const Projection<T>& in,
                                               const T* gain, index_t t, const T* from, const Accum<T>* dout, T* to,
                                               Accum<T>* dgain) {
  using A = Accum<T>;
  const index_t half = in.half;
  if (!gain) {
    for_each_lanes(worker, row,
                   [&](auto i) { store_pair(to, half, i, turned_back(load_pair(dout, half, i), turn(in, t, i))); });
    return;
  }
  const auto sums = row_sums<2>(worker, row, [&](int which, auto i) {
    const auto x = load_pair(from, half, i);
    if (which == 0) return x.a * x.a + x.b * x.b;
    const auto g = load_pair(gain, half, i), dy = turned_back(load_pair(dout, half, i), turn(in, t, i));
    return g.a * dy.a * x.a + g.b * dy.b * x.b;
  });
  const A rstd = 1 / Kokkos::sqrt(sums[0] / A(2 * half) + in.eps), along = sums[1] * rstd / A(2 * half);
  for_each_lanes(worker, row, [&](auto i) {
    const auto x = load_pair(from, half, i), g = load_pair(gain, half, i);
    const auto dy = turned_back(load_pair(dout, half, i), turn(in, t, i));
    const Pair<A, i.size> normalised{x.a * rstd, x.b * rstd};
    const auto sum = load_pair(dgain, half, i);
    store_pair(dgain, half, i, Pair<A, i.size>{sum.a + dy.a * normalised.a, sum.b + dy.b * normalised.b});
    store_pair(to, half, i,
               Pair<A, i.size>{(g.a * dy.a - normalised.a * along) * rstd, (g.b * dy.b - normalised.b * along) * rstd});
  });
}

/// Likewise where each lane has one pack of pairs at most: everything is read once, and dgain's part added to `sum`.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void backward_held_head(const Worker& worker, const RowSplit<T>& row,
                                                    const Projection<T>& in, const T* gain, index_t t, const T* from,
                                                    const Accum<T>* dout, T* to, Pair<Accum<T>, pack_size<T>>& sum) {
  using A = Accum<T>;
  using P = Pair<A, pack_size<T>>;
  const index_t half = in.half;
  P x{}, g{}, dy{};
  for_each_pack(worker, row, [&](auto i) {
    x = load_pair(from, half, i);
    g = load_pair(gain, half, i);
    dy = turned_back(load_pair(dout, half, i), turn(in, t, i));
  });
  const A squares = warp_sum(worker, lane_sum(x.a * x.a + x.b * x.b), row.lanes);
  const A products = warp_sum(worker, lane_sum(g.a * dy.a * x.a + g.b * dy.b * x.b), row.lanes);
  const A rstd = 1 / Kokkos::sqrt(squares / A(2 * half) + in.eps), along = products * rstd / A(2 * half);
  const P normalised{x.a * rstd, x.b * rstd};
  sum = {sum.a + dy.a * normalised.a, sum.b + dy.b * normalised.b};
  for_each_pack(worker, row, [&](auto i) {
    store_pair(to, half, i, P{(g.a * dy.a - normalised.a * along) * rstd, (g.b * dy.b - normalised.b * along) * rstd});
  });
}

/// dqkv, and in q_sums and k_sums (tokens, d) each token's part of the gains' gradients: a worker for the queries of a
/// token and one for its keys and values, so that a GPU has enough of them.
template <class T>
void backward_held(const Exec& exec, const Projection<T>& in, const RowSplit<T>& row, index_t tokens,
                   Heads<const Accum<T>> dq, Heads<const Accum<T>> dk, Heads<const Accum<T>> dv, T* to_qkv,
                   Accum<T>* q_sums, Accum<T>* k_sums) {
  using A = Accum<T>;
  for_each_row(
      "annulus::ops::qk_norm_rope_backward[dqkv, held]", exec, 2 * tokens,
      KOKKOS_LAMBDA(const Worker& worker, index_t w) {
        const index_t t = w / 2;
        const bool queries = w % 2 == 0;
        const T* gain = queries ? in.q_gain : in.k_gain;
        Pair<A, pack_size<T>> sum{};
        for (int head = queries ? 0 : in.q_heads; head < (queries ? in.q_heads : in.heads()); ++head) {
          const T* from = in.qkv + in.place(t, head);
          T* to = to_qkv + in.place(t, head);
          const A* dout = queries             ? dq.at(t, head)
                          : in.is_value(head) ? dv.at(t, head - in.q_heads - in.kv_heads)
                                              : dk.at(t, head - in.q_heads);
          if (in.is_value(head))
            for_each_pack(worker, row, [&](auto i) { store_pair(to, in.half, i, load_pair(dout, in.half, i)); });
          else if (gain)
            backward_held_head(worker, row, in, gain, t, from, dout, to, sum);
          else
            for_each_pack(worker, row, [&](auto i) {
              store_pair(to, in.half, i, turned_back(load_pair(dout, in.half, i), turn(in, t, i)));
            });
        }
        A* const sums = (queries ? q_sums : k_sums) + t * 2 * in.half;
        if (gain) for_each_pack(worker, row, [&](auto i) { store_pair(sums, in.half, i, sum); });
      },
      row.lanes);
}

/// How the pairs of a head divide into packs; a GPU packs only where every head of every operand is aligned.
template <class T, class... H>
RowSplit<T> pairs_of(const Projection<T>& in, const Heads<H>&... operands) {
  using Split = RowSplit<T>;
  Split row(in.half);
  const auto fits = [&](const auto* data, index_t pitch) { return Split::aligned(data, pitch * sizeof(*data)); };
  const bool all = fits(in.qkv, in.half) && fits(in.cosines, in.half) && fits(in.sines, in.half) &&
                   fits(in.q_gain, 0) && fits(in.k_gain, 0) &&
                   (... && (fits(operands.data, operands.token_stride) && fits(operands.data, operands.head_stride)));
  if (on_gpu && !all) row.packs = 0;
  return row;
}

}  // namespace

template <class T>
index_t QkNormRope<T>::workspace_size(const QkvShape& shape, index_t tokens) {
  return 2 * blocks_of(tokens) * shape.head_dim;
}

template <class T>
void QkNormRope<T>::forward(const Exec& exec, const Inputs& inputs, Heads<T> q, Heads<T> k, Heads<T> v) {
  const Projection<T> in(inputs);
  const RowSplit<T> row = pairs_of(in, q, k, v).narrowed();
  const int workers = on_gpu ? in.heads() : 1;  // for each token
  for_each_row(
      "annulus::ops::qk_norm_rope_forward", exec, inputs.qkv.extent(0) * workers,
      KOKKOS_LAMBDA(const Worker& worker, index_t w) {
        const index_t t = w / workers;
        for (int head = static_cast<int>(w % workers); head < in.heads(); head += workers) {
          const T* from = in.qkv + in.place(t, head);
          if (in.is_query(head)) {
            forward_head(worker, row, in, in.q_gain, t, from, q.at(t, head));
          } else if (!in.is_value(head)) {
            forward_head(worker, row, in, in.k_gain, t, from, k.at(t, head - in.q_heads));
          } else {
            T* to = v.at(t, head - in.q_heads - in.kv_heads);
            for_each_lanes(worker, row, [&](auto i) { store_pair(to, in.half, i, load_pair(from, in.half, i)); });
          }
        }
      },
      row.lanes);
}

template <class T>
void QkNormRope<T>::backward(const Exec& exec, const Inputs& inputs, Heads<const A> dq, Heads<const A> dk,
                             Heads<const A> dv, Matrix<T> dqkv, Vector<A> dq_gain, Vector<A> dk_gain,
                             Vector<A> workspace) {
  const Projection<T> in(inputs);
  const index_t tokens = inputs.qkv.extent(0), d = 2 * in.half, blocks = blocks_of(tokens);
  assert(dqkv.extent(0) == inputs.qkv.extent(0) && dqkv.extent(1) == inputs.qkv.extent(1));
  assert(index_t(workspace.extent(0)) >= workspace_size(inputs.shape, tokens));
  const Matrix<A> q_partial(workspace.data(), blocks, d), k_partial(workspace.data() + blocks * d, blocks, d);
  T* const to_qkv = dqkv.data();
  A *const q_sums = q_partial.data(), *const k_sums = k_partial.data();
  const RowSplit<T> row =
      pairs_of(in, dq, dk, dv, Heads<T>{to_qkv, in.half, 0}, Heads<A>{q_sums, in.half, 0}).narrowed();

  if (on_gpu && row.one_pack_each())
    backward_held(exec, in, row, tokens, dq, dk, dv, to_qkv, q_sums, k_sums);
  else
    for_each_row(
        "annulus::ops::qk_norm_rope_backward[dqkv]", exec, blocks, KOKKOS_LAMBDA(const Worker& worker, index_t b) {
          A *q_sum = q_sums + b * 2 * in.half, *k_sum = k_sums + b * 2 * in.half;
          for_each_lanes(worker, row, [&](auto i) {
            const Pair<A, i.size> zero{};
            store_pair(q_sum, in.half, i, zero);
            store_pair(k_sum, in.half, i, zero);
          });
          for (index_t t = b * block; t < Kokkos::min((b + 1) * block, tokens); ++t)
            for (int head = 0; head < in.heads(); ++head) {
              const T* from = in.qkv + in.place(t, head);
              T* to = to_qkv + in.place(t, head);
              if (in.is_query(head)) {
                backward_head(worker, row, in, in.q_gain, t, from, dq.at(t, head), to, q_sum);
              } else if (!in.is_value(head)) {
                backward_head(worker, row, in, in.k_gain, t, from, dk.at(t, head - in.q_heads), to, k_sum);
              } else {
                const A* dout = dv.at(t, head - in.q_heads - in.kv_heads);
                for_each_lanes(worker, row, [&](auto i) { store_pair(to, in.half, i, load_pair(dout, in.half, i)); });
              }
            }
        });

  if (in.q_gain) add_column_sums("annulus::ops::qk_norm_rope_backward[dq_gain]", exec, q_partial, dq_gain);
  if (in.k_gain) add_column_sums("annulus::ops::qk_norm_rope_backward[dk_gain]", exec, k_partial, dk_gain);
}

template struct QkNormRope<float>;
template struct QkNormRope<double>;
template struct QkNormRope<bf16>;

RopeTable rope_table(index_t positions, int head_dim, double theta) {
  const index_t half = head_dim / 2;
  RopeTable table{std::vector<double>(positions * half), std::vector<double>(positions * half)};
  for (index_t k = 0; k < half; ++k) {
    const double frequency = std::pow(theta, -2.0 * static_cast<double>(k) / head_dim);
    for (index_t p = 0; p < positions; ++p) {
      table.cosines[p * half + k] = std::cos(static_cast<double>(p) * frequency);
      table.sines[p * half + k] = std::sin(static_cast<double>(p) * frequency);
    }
  }
  return table;
}

}  // namespace annulus::ops
