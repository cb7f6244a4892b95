#include "ops/gemm.hpp"

#include <cassert>
#include <vector>

#include "core/bf16.hpp"
#include "ops/gemm_libraries.hpp"
#ifdef ANNULUS_CUDA
#include "ops/gemm_cublaslt.hpp"
#else
#include <omp.h>
#endif

namespace annulus::ops {

namespace {

/// Rows and columns as they are read, that is after transposition.
template <class T>
Operand<T> part(const Operand<T>& a, index_t row, index_t rows, index_t column, index_t columns) {
  if (a.transposed) {
    std::swap(row, column);
    std::swap(rows, columns);
  }
  Operand<T> tile(a.data + row * a.stride + column, rows, columns, a.stride);
  tile.transposed = a.transposed;
  return tile;
}

template <class T>
void set_zero(const Exec& exec, const Operand<T>& c) {
  Kokkos::parallel_for(
      "annulus::ops::gemm[zero]", Kokkos::RangePolicy<Exec>(exec, 0, c.rows * c.columns),
      KOKKOS_LAMBDA(index_t i) { c.data[i / c.columns * c.stride + i % c.columns] = T(0.0f); });
}

#ifdef ANNULUS_CUDA

template <class T>
constexpr Scalar type = std::is_same_v<T, bf16> ? Scalar::bf16 : Scalar::fp32;

template <class T>
StoredMatrix stored(const Operand<T>& a) {
  return {const_cast<std::remove_const_t<T>*>(a.data), a.rows, a.columns, a.stride, a.transposed};
}

template <class In, class Out>
void product(const Exec& exec, const Operand<const In>& a, const Operand<const In>& b, Into into,
             const Operand<Out>& c) {
  if constexpr (std::is_same_v<In, double>)
    blas_product<double>(exec, a, b, into, c);
  else
    cublaslt_product(exec.cuda_stream(), type<In>, type<Out>, stored(a), stored(b), into, stored(c));
}

#else

/// How the result divides into tiles that one thread forms alone. Libraries split sums over the inner dimension, and
/// choose their kernels, by the number of threads they are given; the tiles depend on the shape alone, so the bits do.
struct Tiles {
  index_t rows, columns;  ///< of a tile
  index_t down, across;   ///< number of tiles

  /// A library packs the operands again for each tile, so tiles are few and large, and no side of one is short.
  template <class In>
  static Tiles of(index_t m, index_t n, index_t k) {
    constexpr index_t few = 8, many = 64, small = index_t(1) << 24, large = index_t(1) << 30;  // products in a tile
    constexpr bool split_columns = !std::is_same_v<In, bf16>;  // oneDNN's fast kernels write whole rows only
    Tiles tiles{m, n, 1, 1};
    for (index_t count = 1; count < many; count *= 2) {
      const index_t work = tiles.rows * tiles.columns * k;
      const bool down = tiles.rows >= 256, across = split_columns && tiles.columns >= 1024;
      if ((!down && !across) || work <= small || (count >= few && work <= large)) break;
      (down && (tiles.rows >= tiles.columns || !across) ? tiles.down : tiles.across) *= 2;
      tiles.rows = rounded_up((m + tiles.down - 1) / tiles.down, 32);
      tiles.columns = rounded_up((n + tiles.across - 1) / tiles.across, 64);
    }
    tiles.down = (m + tiles.rows - 1) / tiles.rows;
    tiles.across = (n + tiles.columns - 1) / tiles.columns;
    return tiles;
  }

  static index_t rounded_up(index_t count, index_t step) { return (count + step - 1) / step * step; }
};

/// While it lives, a library that asks how many threads it may use on this thread is told: one.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

/// Elements of a tile of bf16 as fp32, in this thread's scratch.
class Widened {
 public:
  template <class T>
  explicit Widened(const Operand<T>& a) : values_(a.rows * a.columns) {
    for (index_t r = 0; r < a.rows; ++r)
      for (index_t i = 0; i < a.columns; ++i) values_[r * a.columns + i] = static_cast<float>(a.data[r * a.stride + i]);
    transposed_ = a.transposed;
    rows_ = a.rows;
    columns_ = a.columns;
  }
  template <class T>
  operator Operand<T>() {
    Operand<T> a(values_.data(), rows_, columns_, columns_);
    a.transposed = transposed_;
    return a;
  }
  void round_to(const Operand<bf16>& c) const {
    for (index_t r = 0; r < c.rows; ++r)
      for (index_t i = 0; i < c.columns; ++i) c.data[r * c.stride + i] = bf16(values_[r * c.columns + i]);
  }

 private:
  std::vector<float> values_;
  index_t rows_, columns_;
  bool transposed_;
};

void fp32_product(const Exec& exec, const Operand<const float>& a, const Operand<const float>& b, Into into,
                  const Operand<float>& c) {
#ifdef ANNULUS_ONEDNN
  (void)exec;
  onednn_product(a, b, into, c);
#else
  blas_product<float>(exec, a, b, into, c);
#endif
}

bool has_bf16() {
#ifdef ANNULUS_ONEDNN
  return onednn_has_bf16();
#else
  return false;
#endif
}

/// One tile, on the calling thread.
template <class In, class Out>
void tile_product(const Exec& exec, const Operand<const In>& a, const Operand<const In>& b, Into into,
                  const Operand<Out>& c) {
  if constexpr (std::is_same_v<In, double>) {
    blas_product<double>(exec, a, b, into, c);
  } else if constexpr (std::is_same_v<In, float>) {
    fp32_product(exec, a, b, into, c);
  } else {
#ifdef ANNULUS_ONEDNN
    if (has_bf16()) return onednn_product(a, b, into, c);
#endif
    Widened wide_a(a), wide_b(b);
    if constexpr (std::is_same_v<Out, bf16>) {
      Widened wide_c(c);
      fp32_product(exec, wide_a, wide_b, into, wide_c);
      wide_c.round_to(c);
    } else {
      fp32_product(exec, wide_a, wide_b, into, c);
    }
  }
}

template <class In, class Out>
void product(const Exec& exec, const Operand<const In>& a, const Operand<const In>& b, Into into,
             const Operand<Out>& c) {
  const index_t m = c.rows, n = c.columns, k = columns_of(a);
  const Tiles tiles = Tiles::of<In>(m, n, k);
  Kokkos::parallel_for(
      "annulus::ops::gemm[tiles]",
      Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic> >(exec, 0, tiles.down * tiles.across)
          .set_chunk_size(1),
      [=](index_t tile) {
        const OneThread alone;
        const index_t row = tile / tiles.across * tiles.rows, column = tile % tiles.across * tiles.columns;
        const index_t rows = std::min(tiles.rows, m - row), columns = std::min(tiles.columns, n - column);
        tile_product<In, Out>(exec, part(a, row, rows, 0, k), part(b, 0, k, column, columns), into,
                              part(c, row, rows, column, columns));
      });
}

#endif

}  // namespace

template <class In, class Out>
void Gemm<In, Out>::run(const Exec& exec, Operand<const In> a, Operand<const In> b, Into into, Operand<Out> c) {
  assert(!c.transposed && rows_of(a) == c.rows && columns_of(b) == c.columns && columns_of(a) == rows_of(b));
  assert(a.stride >= a.columns && b.stride >= b.columns && c.stride >= c.columns);
  if (c.rows == 0 || c.columns == 0) return;
  if (columns_of(a) > 0)
    product<In, Out>(exec, a, b, into, c);
  else if (into == Into::overwrite)
    set_zero(exec, c);
}

std::string gemm_description() {
#ifdef ANNULUS_ONEDNN
  return onednn_description() + (has_bf16() ? "" : ", bf16 converted to fp32") + "; fp64: " + blas_description();
#elif defined(ANNULUS_CUDA)
  return cublaslt_description() + "; fp64: " + blas_description();
#else
  return blas_description() + ", bf16 converted to fp32";
#endif
}

index_t gemm_device_memory() {
#ifdef ANNULUS_CUDA
  return cublaslt_workspace;
#else
  return 0;
#endif
}

template struct Gemm<float>;
template struct Gemm<double>;
template struct Gemm<bf16>;
template struct Gemm<bf16, float>;

}  // namespace annulus::ops
