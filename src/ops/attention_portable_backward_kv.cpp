#include "core/bf16.hpp"
#include "ops/attention_portable.hpp"
#include "ops/attention_softmax.hpp"

namespace annulus::ops {

namespace {

/// Keys along the packs; the queries of all heads that read them stream by.
constexpr TileCounts in_scratch{.staying = 4, .streaming = 2, .products = 2, .per_token = 1};

/// dk_j = scale sum_i ds_ij q_i, dv_j = sum_i p_ij dout_i, with ds_ij = p_ij (dout_i v_j - delta_i).
template <class T>
struct BackwardKv {
  using A = Accum<T>;
  static constexpr int N = Registers<A>::N;
  using P = Pack<A, N>;

  struct Tile {
    index_t first, order;
    int count, head;
    A *k, *v, *dk, *dv, *q, *dout, *p, *ds;  // (depth, width) four times, (rows, depth) and (rows, width) twice
    A* numbers;                              // (width): 0, 1, 2, ...
  };

  OwnStretch own;
  Stretches queries;
  Visible visible;
  TileShape<A> shape;
  BackwardOperands<T> on;
  bool add;
  HeadRows<A> dk, dv;

  KOKKOS_FUNCTION void operator()(const TileWorker& worker) const {
    const auto [width, rows, depth] = shape.sizes;
    const index_t tiles = (own.count + width - 1) / width, rank = worker.league_rank();
    const index_t t = rank % tiles * width;  // most queries see the first keys: they start first
    Tile tile;
    tile.first = own.first + t;
    tile.order = own.order + t;
    tile.count = static_cast<int>(Kokkos::min(index_t(width), own.count - t));
    tile.head = static_cast<int>(rank / tiles);
    constexpr TileCounts counts = in_scratch;  // a device cannot refer to an object of the host's
    A* scratch = scratch_of<A>(worker, elements(shape.sizes, counts));
    const auto take = [&](int size) { return (scratch += size) - size; };
    tile.k = take(depth * width), tile.v = take(depth * width);
    tile.dk = take(depth * width), tile.dv = take(depth * width);
    tile.q = take(rows * depth), tile.dout = take(rows * depth);
    tile.p = take(rows * width), tile.ds = take(rows * width);
    tile.numbers = take(width);

    load_transposed(worker, on.k.at(tile.first, tile.head), on.k.token_stride, tile.count, shape.dims, shape.sizes,
                    shape.scale * A(log2_e), tile.k);
    load_transposed(worker, on.v.at(tile.first, tile.head), on.v.token_stride, tile.count, shape.dims, shape.sizes,
                    A(1), tile.v);
    Kokkos::parallel_for(Kokkos::TeamVectorRange(worker, depth * width), [&](int n) { tile.dk[n] = tile.dv[n] = 0; });
    Kokkos::parallel_for(Kokkos::TeamVectorRange(worker, width), [&](int n) { tile.numbers[n] = A(n); });

    for (int head = tile.head * shape.group; head < (tile.head + 1) * shape.group; ++head) {
      index_t first_query = 0;
      for (int s = 0; s < queries.size; ++s) {
        const index_t count = queries.stretch[s].count;
        const index_t stop = first_query + first_above(visible.begin + first_query, count, tile.order + tile.count - 1);
        for (index_t i = first_query + first_above(visible.end + first_query, count, tile.order); i < stop; i += rows)
          descend(worker, tile, head, i, static_cast<int>(Kokkos::min(index_t(rows), stop - i)));
        first_query += count;
      }
    }
    worker.team_barrier();
    store_transposed(worker, tile.dk, width, shape.scale, add, tile.count, shape.dims, dk.at(tile.first, tile.head),
                     dk.token_stride);
    store_transposed(worker, tile.dv, width, A(1), add, tile.count, shape.dims, dv.at(tile.first, tile.head),
                     dv.token_stride);
  }

  /// The first of `count` non-decreasing bounds above `bound`.
  KOKKOS_FUNCTION static index_t first_above(const index_t* bounds, index_t count, index_t bound) {
    index_t low = 0, high = count;
    while (low < high) {
      const index_t middle = (low + high) / 2;
      if (bounds[middle] > bound)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  KOKKOS_FUNCTION void descend(const TileWorker& worker, const Tile& tile, int head, index_t first, int taken) const {
    const auto [width, rows, depth] = shape.sizes;
    const index_t row = head * queries.tokens() + first;
    const bool all_seen =
        visible.begin[first + taken - 1] <= tile.order && tile.order + tile.count <= visible.end[first];
    worker.team_barrier();
    load_rows(worker, on.q.at(first, head), on.q.token_stride, taken, shape.dims, depth, tile.q);
    load_rows(worker, on.dout.at(first, head), on.dout.token_stride, taken, shape.dims, depth, tile.dout);
    worker.team_barrier();
    multiply<Onto::nothing>(worker, taken, shape.dims, tile.q, depth, 1, tile.k, tile.p, width);
    multiply<Onto::nothing>(worker, taken, shape.dims, tile.dout, depth, 1, tile.v, tile.ds, width);
    worker.team_barrier();
    for_each_element(worker, taken, width / N, [&](int i, int n) {
      const Lanes<N> at{n * N};
      P logit = load(tile.p + i * width, at), dp = load(tile.ds + i * width, at);
      if (!all_seen) {
        const P begin = P{} + A(tokens_before(visible.begin[first + i], tile.order, tile.count));
        const P end = P{} + A(tokens_before(visible.end[first + i], tile.order, tile.count));
        const P key = load(tile.numbers, at);
        logit = where_seen(logit, begin, key, end, unseen<A>);
        dp = where_seen(dp, begin, key, end, A(0));
      }
      const A lse = on.lse[row + i];
      const P p = exp2(logit - (lse == unseen<A> ? -bottom<A> : lse * A(log2_e)));
      store(tile.p + i * width, at, p);
      store(tile.ds + i * width, at, p * (dp - on.delta[row + i]));
    });
    worker.team_barrier();
    multiply<Onto::held>(worker, shape.dims, taken, tile.dout, 1, depth, tile.p, tile.dv, width);
    multiply<Onto::held>(worker, shape.dims, taken, tile.q, 1, depth, tile.ds, tile.dk, width);
  }
};

}  // namespace

template <class T>
void portable_backward_kv(const Exec& exec, const AttentionShape& shape, const AttentionTokens& tokens,
                          const BackwardOperands<T>& operands, Into into, HeadRows<Accum<T>> dk,
                          HeadRows<Accum<T>> dv) {
  using A = Accum<T>;
  const TileSizes sizes = tile_sizes<A>(shape.head_dim, in_scratch);
  const TileShape<A> tile{shape.kv_heads, shape.q_heads / shape.kv_heads, shape.head_dim, A(shape.scale), sizes};
  for_each_stretch(tokens.keys, [&](OwnStretch own) {
    launch_tiles("annulus::ops::attention_backward_kv[portable]", exec,
                 (own.count + sizes.width - 1) / sizes.width * shape.kv_heads, elements(sizes, in_scratch) * sizeof(A),
                 BackwardKv<T>{own,
                               tokens.queries,
                               {tokens.visible_begin, tokens.visible_end},
                               tile,
                               operands,
                               into == Into::add,
                               dk,
                               dv});
  });
}

template void portable_backward_kv(const Exec&, const AttentionShape&, const AttentionTokens&,
                                   const BackwardOperands<float>&, Into, HeadRows<float>, HeadRows<float>);
template void portable_backward_kv(const Exec&, const AttentionShape&, const AttentionTokens&,
                                   const BackwardOperands<double>&, Into, HeadRows<double>, HeadRows<double>);
template void portable_backward_kv(const Exec&, const AttentionShape&, const AttentionTokens&,
                                   const BackwardOperands<bf16>&, Into, HeadRows<float>, HeadRows<float>);

}  // namespace annulus::ops
