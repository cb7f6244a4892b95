#include "core/bf16.hpp"
#include "ops/attention_portable.hpp"
#include "ops/attention_softmax.hpp"

namespace annulus::ops {

namespace {

/// Queries along the packs; keys and values stream by through one tile.
constexpr TileCounts in_scratch{.staying = 2, .streaming = 1, .products = 1, .per_token = 5};

template <class T>
struct Forward {
  using A = Accum<T>;
  static constexpr int N = on_gpu ? 1 : Registers<A>::N;  // of softmax: there a lane of a warp has a query to itself
  using P = Pack<A, N>;

  /// A worker's tile: the first query and how many, its head, and its scratch.
  struct Tile {
    index_t first;
    int count, head;
    A *q, *acc, *stream, *p;                // (depth, width) twice, (rows, depth), (rows, width)
    A *maximum, *sum, *fade, *begin, *end;  // (width)
  };

  OwnStretch own;
  Stretches keys;
  Visible visible;
  TileShape<A> shape;
  index_t queries;
  ForwardOperands<T> on;

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
    tile.q = take(depth * width), tile.acc = take(depth * width), tile.stream = take(rows * depth);
    tile.p = take(rows * width);
    tile.maximum = take(width), tile.sum = take(width), tile.fade = take(width);
    tile.begin = take(width), tile.end = take(width);

    load_transposed(worker, on.q.at(tile.first, tile.head), on.q.token_stride, tile.count, shape.dims, shape.sizes,
                    shape.scale * A(log2_e), tile.q);
    begin_or_continue(worker, tile);
    const index_t last = tile.first + tile.count - 1, sees_begin = visible.begin[tile.first],
                  sees_end = visible.end[last];
    index_t first_key = 0;
    for (int s = 0; s < keys.size; ++s) {
      const auto [order, count] = keys.stretch[s];
      const index_t stop = tokens_before(sees_end, order, count);
      for (index_t j = tokens_before(sees_begin, order, count); j < stop; j += rows) {
        const int taken = static_cast<int>(Kokkos::min(index_t(rows), stop - j));
        const bool all_seen = visible.begin[last] <= order + j && order + j + taken <= visible.end[tile.first];
        attend(worker, tile, first_key + j, order + j, taken, all_seen);
      }
      first_key += count;
    }
    worker.team_barrier();
    finish_or_hold(worker, tile);
  }

  KOKKOS_FUNCTION A* held(int head, int row) const {  // rows: the unnormalised output, then maximum and sum
    return on.state + (index_t(head) * (shape.dims + 2) + row) * queries;
  }

  KOKKOS_FUNCTION void begin_or_continue(const TileWorker& worker, const Tile& tile) const {
    const auto [width, rows, depth] = shape.sizes;
    const bool begin = on.pass.begin;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(worker, width), [&](int t) {
      const bool empty = begin || t >= tile.count;
      tile.maximum[t] = empty ? bottom<A> : held(tile.head, shape.dims)[tile.first + t];
      tile.sum[t] = empty ? A(0) : held(tile.head, shape.dims + 1)[tile.first + t];
    });
    for_each_element(worker, depth, width, [&](int c, int t) {
      tile.acc[c * width + t] = begin || t >= tile.count || c >= shape.dims ? A(0) : held(tile.head, c)[tile.first + t];
    });
  }

  /// One step of the flash loop: keys first_key ... of order `order` ..., `taken` of them.
  KOKKOS_FUNCTION void attend(const TileWorker& worker, const Tile& tile, index_t first_key, index_t order, int taken,
                              bool all_seen) const {
    const auto [width, rows, depth] = shape.sizes;
    const int kv_head = tile.head / shape.group;
    worker.team_barrier();
    load_rows(worker, on.k.at(first_key, kv_head), on.k.token_stride, taken, shape.dims, depth, tile.stream);
    if (!all_seen)
      Kokkos::parallel_for(Kokkos::TeamVectorRange(worker, width), [&](int t) {
        const bool query = t < tile.count;
        tile.begin[t] = query ? A(tokens_before(visible.begin[tile.first + t], order, taken)) : A(0);
        tile.end[t] = query ? A(tokens_before(visible.end[tile.first + t], order, taken)) : A(0);
      });
    worker.team_barrier();
    multiply<Onto::nothing>(worker, taken, shape.dims, tile.stream, depth, 1, tile.q, tile.p, width);
    worker.team_barrier();
    load_rows(worker, on.v.at(first_key, kv_head), on.v.token_stride, taken, shape.dims, depth, tile.stream);
    softmax(worker, tile, taken, all_seen);
    worker.team_barrier();
    multiply<Onto::rescaled>(worker, shape.dims, taken, tile.stream, 1, depth, tile.p, tile.acc, width, tile.fade);
  }

  /// p = exp2(logit - maximum), and what the sums so far lose as the maximum grows.
  KOKKOS_FUNCTION void softmax(const TileWorker& worker, const Tile& tile, int taken, bool all_seen) const {
    const int width = shape.sizes.width;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(worker, width / N), [&](int n) {
      const Lanes<N> at{n * N};
      if (!all_seen)
        for (int j = 0; j < taken; ++j)
          store(tile.p + j * width, at,
                where_seen(load(tile.p + j * width, at), load(tile.begin, at), P{} + A(j), load(tile.end, at),
                           unseen<A>));
      const P before = load(tile.maximum, at);
      P maximum = before;
      for (int j = 0; j < taken; ++j) maximum = larger(maximum, load(tile.p + j * width, at));
      const P fade = exp2(before - maximum);
      P sum = load(tile.sum, at) * fade;
      for (int j = 0; j < taken; ++j) {
        const P p = exp2(load(tile.p + j * width, at) - maximum);
        sum = sum + p;
        store(tile.p + j * width, at, p);
      }
      store(tile.maximum, at, maximum);
      store(tile.fade, at, fade);
      store(tile.sum, at, sum);
    });
  }

  KOKKOS_FUNCTION void finish_or_hold(const TileWorker& worker, const Tile& tile) const {
    const int width = shape.sizes.width, dims = shape.dims;
    if (on.pass.finish) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(worker, tile.count), [&](int t) {
        const A sum = tile.sum[t];
        on.lse[tile.head * queries + tile.first + t] =
            sum > 0 ? (tile.maximum[t] + Kokkos::log2(sum)) * A(ln_2) : unseen<A>;
        tile.fade[t] = sum > 0 ? 1 / sum : A(0);
      });
      worker.team_barrier();
      for_each_element(worker, tile.count, dims, [&](int t, int c) {
        on.out.at(tile.first + t, tile.head)[c] = T(tile.acc[c * width + t] * tile.fade[t]);
      });
    } else {
      for_each_element(worker, dims + 2, tile.count, [&](int c, int t) {
        held(tile.head, c)[tile.first + t] = c < dims    ? tile.acc[c * width + t]
                                             : c == dims ? tile.maximum[t]
                                                         : tile.sum[t];
      });
    }
  }
};

}  // namespace

template <class T>
void portable_forward(const Exec& exec, const AttentionShape& shape, const AttentionTokens& tokens,
                      const ForwardOperands<T>& operands) {
  using A = Accum<T>;
  const TileSizes sizes = tile_sizes<A>(shape.head_dim, in_scratch);
  const TileShape<A> tile{shape.q_heads, shape.q_heads / shape.kv_heads, shape.head_dim, A(shape.scale), sizes};
  for_each_stretch(tokens.queries, [&](OwnStretch own) {
    launch_tiles(
        "annulus::ops::attention_forward[portable]", exec, (own.count + sizes.width - 1) / sizes.width * shape.q_heads,
        elements(sizes, in_scratch) * sizeof(A),
        Forward<T>{
            own, tokens.keys, {tokens.visible_begin, tokens.visible_end}, tile, tokens.queries.tokens(), operands});
  });
}

template void portable_forward(const Exec&, const AttentionShape&, const AttentionTokens&,
                               const ForwardOperands<float>&);
template void portable_forward(const Exec&, const AttentionShape&, const AttentionTokens&,
                               const ForwardOperands<double>&);
template void portable_forward(const Exec&, const AttentionShape&, const AttentionTokens&,
                               const ForwardOperands<bf16>&);

}  // namespace annulus::ops
