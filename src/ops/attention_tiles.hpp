/// Tiles of attention operands in scratch memory and the product that all its passes are made of. A thread of a CPU, or
/// a team of warps of a GPU, owns a tile of `width` tokens of one side for good, transposed: its tokens lie along the
/// packs, so that sums over the other side's tokens need no sums across a pack. Tokens of the other side stream by in
/// tiles of `rows`, as they lie in memory, one broadcast element at a time.
#pragma once
#include <algorithm>

#include "core/pack.hpp"
#include "ops/attention_launch.hpp"

#ifdef __CUDACC__
#define ANNULUS_UNROLL _Pragma("unroll")
#else
#define ANNULUS_UNROLL _Pragma("GCC unroll 16")
#endif

namespace annulus::ops {

using TilePolicy = Kokkos::TeamPolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>>;
using TileWorker = TilePolicy::member_type;

/// The registers of a product: `down` rows of `across` packs of N.
template <class A>
struct Registers {
  static constexpr int N = on_gpu ? 16 / sizeof(A) : 64 / sizeof(A);
  static constexpr int across = on_gpu ? 1 : 4;
  static constexpr int down = on_gpu ? N : 4;
};

struct TileSizes {
  int width, rows;  ///< tokens: of the side that stays, of the side that streams by
  int depth;        ///< head_dim, rounded up to whole registers
};

/// How many tiles of each kind a kernel keeps in scratch.
struct TileCounts {
  int staying;    ///< (depth, width)
  int streaming;  ///< (rows, depth)
  int products;   ///< (rows, width)
  int per_token;  ///< (width)
};

KOKKOS_INLINE_FUNCTION index_t elements(const TileSizes& sizes, const TileCounts& counts) {
  const index_t width = sizes.width, rows = sizes.rows, depth = sizes.depth;
  return counts.staying * depth * width + counts.streaming * rows * depth + counts.products * rows * width +
         counts.per_token * width;
}

/// On a CPU sizes that its caches like; on a GPU the widest tiles that fit into the 48 KB that every one has.
template <class A>
TileSizes tile_sizes(int head_dim, const TileCounts& counts) {
  constexpr int N = Registers<A>::N, down = Registers<A>::down;
  const int depth = (head_dim + down - 1) / down * down;
  if (!on_gpu) return {Registers<A>::across * N, 64, depth};
  TileSizes sizes{64, 32, depth};
  while (sizes.rows > down && elements(sizes, counts) * sizeof(A) > 47 * 1024)
    sizes = {sizes.width / 2, sizes.rows / 2, depth};
  return sizes;
}

template <class Kernel>
void launch_tiles(const char* label, const Exec& exec, index_t tiles, index_t scratch_bytes, const Kernel& kernel) {
  static_assert(sizeof(Kernel) <= largest_kernel);
  assert(tiles <= 0x7fffffff);  // Kokkos counts teams in an int
  constexpr int warps = on_gpu ? 4 : 1, lanes = on_gpu ? 32 : 1, level = on_gpu ? 0 : 1, alignment = 64;
  TilePolicy policy(exec, static_cast<int>(tiles), warps, lanes);
  policy.set_chunk_size(1).set_scratch_size(level, Kokkos::PerTeam(static_cast<int>(scratch_bytes) + alignment));
  Kokkos::parallel_for(label, policy, kernel);
}

template <class A>
KOKKOS_FORCEINLINE_FUNCTION A* scratch_of(const TileWorker& worker, index_t count) {
  return static_cast<A*>(worker.team_scratch(on_gpu ? 0 : 1).get_shmem_aligned(count * sizeof(A), 64));
}

/// step(r, c) for each element of a tile: a warp takes a row, its lanes neighbours. (One flat loop would divide by the
/// row's length at each step, which costs a CPU as much as the products.)
template <class Step>
KOKKOS_FORCEINLINE_FUNCTION void for_each_element(const TileWorker& worker, int rows, int columns, const Step& step) {
  Kokkos::parallel_for(Kokkos::TeamThreadRange(worker, rows), [&](int r) {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(worker, columns), [&](int c) { step(r, c); });
  });
}

/// tile(r, c) = the tokens' elements, rows and columns up to whole registers filled with zeros.
template <class A, class T>
KOKKOS_FUNCTION void load_rows(const TileWorker& worker, const T* from, index_t pitch, int count, int dims, int depth,
                               A* tile) {
  constexpr int down = Registers<A>::down, N = on_gpu ? 1 : Registers<A>::N;
  const int rows = (count + down - 1) / down * down, packed = dims / N * N;
  for_each_element(worker, count, dims / N, [&](int r, int n) {
    const Lanes<N> at{n * N};
    store(tile + r * depth, at, load(from + r * pitch, at));
  });
  for_each_element(worker, count, depth - packed, [&](int r, int n) {
    const int c = packed + n;
    tile[r * depth + c] = c < dims ? static_cast<A>(from[r * pitch + c]) : A(0);
  });
  for_each_element(worker, rows - count, depth, [&](int r, int c) { tile[(count + r) * depth + c] = 0; });
}

/// tile(c, t) = factor * the tokens' elements, tokens beyond `count` filled with zeros.
template <class A, class T>
KOKKOS_FUNCTION void load_transposed(const TileWorker& worker, const T* from, index_t pitch, int count, int dims,
                                     const TileSizes& sizes, A factor, A* tile) {
  for_each_element(worker, sizes.width, sizes.depth, [&](int t, int c) {
    tile[c * sizes.width + t] = t < count && c < dims ? factor * static_cast<A>(from[t * pitch + c]) : A(0);
  });
}

/// The tokens' elements = factor * tile(c, t), or that much more.
template <class A, class T>
KOKKOS_FUNCTION void store_transposed(const TileWorker& worker, const A* tile, int width, A factor, bool add, int count,
                                      int dims, T* to, index_t pitch) {
  for_each_element(worker, count, dims, [&](int t, int c) {
    T& element = to[t * pitch + c];
    element = T((add ? static_cast<A>(element) : A(0)) + factor * tile[c * width + t]);
  });
}

/// What a product is added to.
enum class Onto { nothing, held, rescaled };

/// c(m, t) = sum over k < depth of a(m, k) b(k, t), for m < rows rounded up to whole registers; with Onto::rescaled,
/// c(m, t) is first multiplied by factor(t).
template <Onto onto, class A>
KOKKOS_FUNCTION void multiply(const TileWorker& worker, int rows, int depth, const A* a, int a_row, int a_depth,
                              const A* b, A* c, int width, const A* factor = nullptr) {
  constexpr int N = Registers<A>::N, across = Registers<A>::across, down = Registers<A>::down;
  using P = Pack<A, N>;
  const int columns = width / (across * N), blocks = (rows + down - 1) / down * columns;
  Kokkos::parallel_for(Kokkos::TeamVectorRange(worker, blocks), [&](int block) {
    const int m = block / columns * down, t = block % columns * (across * N);
    P sum[down][across];
    ANNULUS_UNROLL
    for (int i = 0; i < down; ++i) {
      ANNULUS_UNROLL
      for (int j = 0; j < across; ++j) {
        const Lanes<N> at{t + j * N};
        if constexpr (onto == Onto::nothing)
          sum[i][j] = P{};
        else if constexpr (onto == Onto::held)
          sum[i][j] = load(c + (m + i) * width, at);
        else
          sum[i][j] = load(c + (m + i) * width, at) * load(factor, at);
      }
    }
    const A* a_k = a + m * a_row;
    const A* b_k = b + t;
    for (int k = 0; k < depth; ++k, a_k += a_depth, b_k += width) {
      P b_kj[across];
      ANNULUS_UNROLL
      for (int j = 0; j < across; ++j) b_kj[j] = load(b_k, Lanes<N>{j * N});
      ANNULUS_UNROLL
      for (int i = 0; i < down; ++i) {
        const A a_ik = a_k[i * a_row];
        ANNULUS_UNROLL
        for (int j = 0; j < across; ++j) sum[i][j] = sum[i][j] + b_kj[j] * a_ik;
      }
    }
    ANNULUS_UNROLL
    for (int i = 0; i < down; ++i) {
      ANNULUS_UNROLL
      for (int j = 0; j < across; ++j) store(c + (m + i) * width, Lanes<N>{t + j * N}, sum[i][j]);
    }
  });
}

}  // namespace annulus::ops
