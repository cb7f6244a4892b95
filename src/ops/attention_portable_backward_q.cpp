#include "core/bf16.hpp"
#include "ops/attention_portable.hpp"
#include "ops/attention_softmax.hpp"

namespace annulus::ops {

namespace {

/// Queries along the packs; keys and values stream by.
constexpr TileCounts in_scratch{.staying = 3, .streaming = 2, .products = 2, .per_token = 4};

/// dq_i = scale sum_j ds_ij k_j with ds_ij = p_ij (dout_i v_j - delta_i).
template <class T>
struct BackwardQ {
  using A = Accum<T>;
  static constexpr int N = Registers<A>::N;
  using P = Pack<A, N>;

  struct Tile {
    index_t first;
    int count, head;
    A *q, *dout, *dq, *k, *v, *p, *dp;  // (depth, width) three times, (rows, depth) and (rows, width) twice
    A *lse, *delta, *begin, *end;       // (width); lse in the unit of log2
  };

  OwnStretch own;
  Stretches keys;
  Visible visible;
  TileShape<A> shape;
  index_t queries;
  BackwardOperands<T> on;
  bool add;
  HeadRows<A> dq;

  KOKKOS_FUNCTION void operator()(const TileWorker& worker) const {
    const auto [width, rows, depth] = shape.sizes;
    const index_t tiles = (own.count + width - 1) / width;
    const index_t rank = worker.league_rank(), group = shape.group, rest = rank % (tiles * group);
    const index_t t = tiles - 1 - rest / group;  // the last queries see most keys: they start first
    Tile tile;
    tile.first = own.first + t * width;
    tile.count = static_cast<int>(Kokkos::min(index_t(width), own.count - t * width));
    tile.head = static_cast<int>(rank / (tiles * group) * group + rest % group);  // neighbours read the same keys
    constexpr TileCounts counts = in_scratch;  // a device cannot refer to an object of the host's
    A* scratch = scratch_of<A>(worker, elements(shape.sizes, counts));
    const auto take = [&](int size) { return (scratch += size) - size; };
    tile.q = take(depth * width), tile.dout = take(depth * width), tile.dq = take(depth * width);
    tile.k = take(rows * depth), tile.v = take(rows * depth);
    tile.p = take(rows * width), tile.dp = take(rows * width);
    tile.lse = take(width), tile.delta = take(width), tile.begin = take(width), tile.end = take(width);

    load_transposed(worker, on.q.at(tile.first, tile.head), on.q.token_stride, tile.count, shape.dims, shape.sizes,
                    shape.scale * A(log2_e), tile.q);
    load_transposed(worker, on.dout.at(tile.first, tile.head), on.dout.token_stride, tile.count, shape.dims,
                    shape.sizes, A(1), tile.dout);
    load_rows_of_queries(worker, tile);
    const index_t last = tile.first + tile.count - 1, sees_begin = visible.begin[tile.first],
                  sees_end = visible.end[last];
    index_t first_key = 0;
    for (int s = 0; s < keys.size; ++s) {
      const auto [order, count] = keys.stretch[s];
      const index_t stop = tokens_before(sees_end, order, count);
      for (index_t j = tokens_before(sees_begin, order, count); j < stop; j += rows) {
        const int taken = static_cast<int>(Kokkos::min(index_t(rows), stop - j));
        const bool all_seen = visible.begin[last] <= order + j && order + j + taken <= visible.end[tile.first];
        descend(worker, tile, first_key + j, order + j, taken, all_seen);
      }
      first_key += count;
    }
    worker.team_barrier();
    store_transposed(worker, tile.dq, width, shape.scale, add, tile.count, shape.dims, dq.at(tile.first, tile.head),
                     dq.token_stride);
  }

  KOKKOS_FUNCTION void load_rows_of_queries(const TileWorker& worker, const Tile& tile) const {
    const auto [width, rows, depth] = shape.sizes;
    const index_t row = tile.head * queries + tile.first;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(worker, width), [&](int t) {
      const A lse = t < tile.count ? on.lse[row + t] : unseen<A>;
      tile.lse[t] = lse == unseen<A> ? -bottom<A> : lse * A(log2_e);
      tile.delta[t] = t < tile.count ? on.delta[row + t] : A(0);
    });
    Kokkos::parallel_for(Kokkos::TeamVectorRange(worker, depth * width), [&](int n) { tile.dq[n] = 0; });
  }

  KOKKOS_FUNCTION void descend(const TileWorker& worker, const Tile& tile, index_t first_key, index_t order, int taken,
                               bool all_seen) const {
    const auto [width, rows, depth] = shape.sizes;
    const int kv_head = tile.head / shape.group;
    worker.team_barrier();
    load_rows(worker, on.k.at(first_key, kv_head), on.k.token_stride, taken, shape.dims, depth, tile.k);
    load_rows(worker, on.v.at(first_key, kv_head), on.v.token_stride, taken, shape.dims, depth, tile.v);
    if (!all_seen)
      Kokkos::parallel_for(Kokkos::TeamVectorRange(worker, width), [&](int t) {
        const bool query = t < tile.count;
        tile.begin[t] = query ? A(tokens_before(visible.begin[tile.first + t], order, taken)) : A(0);
        tile.end[t] = query ? A(tokens_before(visible.end[tile.first + t], order, taken)) : A(0);
      });
    worker.team_barrier();
    multiply<Onto::nothing>(worker, taken, shape.dims, tile.k, depth, 1, tile.q, tile.p, width);
    multiply<Onto::nothing>(worker, taken, shape.dims, tile.v, depth, 1, tile.dout, tile.dp, width);
    worker.team_barrier();
    for_each_element(worker, taken, width / N, [&](int j, int n) {
      const Lanes<N> at{n * N};
      P logit = load(tile.p + j * width, at), dp = load(tile.dp + j * width, at);
      if (!all_seen) {
        const P begin = load(tile.begin, at), key = P{} + A(j), end = load(tile.end, at);
        logit = where_seen(logit, begin, key, end, unseen<A>);
        dp = where_seen(dp, begin, key, end, A(0));
      }
      const P p = exp2(logit - load(tile.lse, at));
      store(tile.dp + j * width, at, p * (dp - load(tile.delta, at)));
    });
    worker.team_barrier();
    multiply<Onto::held>(worker, shape.dims, taken, tile.k, 1, depth, tile.dp, tile.dq, width);
  }
};

}  // namespace

template <class T>
void portable_backward_q(const Exec& exec, const AttentionShape& shape, const AttentionTokens& tokens,
                         const BackwardOperands<T>& operands, Into into, HeadRows<Accum<T>> dq) {
  using A = Accum<T>;
  const TileSizes sizes = tile_sizes<A>(shape.head_dim, in_scratch);
  const TileShape<A> tile{shape.q_heads, shape.q_heads / shape.kv_heads, shape.head_dim, A(shape.scale), sizes};
  for_each_stretch(tokens.queries, [&](OwnStretch own) {
    launch_tiles("annulus::ops::attention_backward_q[portable]", exec,
                 (own.count + sizes.width - 1) / sizes.width * shape.q_heads, elements(sizes, in_scratch) * sizeof(A),
                 BackwardQ<T>{own,
                              tokens.keys,
                              {tokens.visible_begin, tokens.visible_end},
                              tile,
                              tokens.queries.tokens(),
                              operands,
                              into == Into::add,
                              dq});
  });
}

template void portable_backward_q(const Exec&, const AttentionShape&, const AttentionTokens&,
                                  const BackwardOperands<float>&, Into, HeadRows<float>);
template void portable_backward_q(const Exec&, const AttentionShape&, const AttentionTokens&,
                                  const BackwardOperands<double>&, Into, HeadRows<double>);
template void portable_backward_q(const Exec&, const AttentionShape&, const AttentionTokens&,
                                  const BackwardOperands<bf16>&, Into, HeadRows<float>);

}  // namespace annulus::ops
