#include "ops/gemm.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <thread>

#include "ops/budget.hpp"

using namespace annulus;
using namespace annulus::ops;
using namespace annulus::test;

namespace {

template <class In, class Out>
struct Types {
  using in = In;
  using out = Out;
};

/// A matrix with `before` elements ahead of it and `gap` elements after each of its rows, which hold NaN.
template <class T>
struct Stored {
  index_t rows, columns, stride, before;
  Vector<T> memory;

  Stored(const Numbers& values, index_t rows, index_t columns, index_t gap, index_t before = 0)
      : rows(rows),
        columns(columns),
        stride(columns + gap),
        before(before),
        memory(poisoned<T>(before + rows * stride)) {
    Numbers all = download(memory);
    for (index_t r = 0; r < rows; ++r)
      for (index_t i = 0; i < columns; ++i) all[at(r, i)] = values[r * columns + i];
    upload(all, memory);
  }
  index_t at(index_t row, index_t column) const { return before + row * stride + column; }
  operator Operand<T>() const { return {memory.data() + before, rows, columns, stride}; }
  Operand<const T> input(bool transpose) const {
    const Operand<const T> a(memory.data() + before, rows, columns, stride);
    return transpose ? transposed(a) : a;
  }
  Numbers values() const {
    const Numbers all = download(memory);
    Numbers inside(rows * columns);
    for (index_t r = 0; r < rows; ++r)
      for (index_t i = 0; i < columns; ++i) inside[r * columns + i] = all[at(r, i)];
    return inside;
  }
  bool gaps_untouched() const {
    const Numbers all = download(memory);
    for (index_t n = 0; n < before; ++n)
      if (!std::isnan(all[n])) return false;
    for (index_t r = 0; r < rows; ++r)
      for (index_t i = columns; i < stride; ++i)
        if (!std::isnan(all[at(r, i)])) return false;
    return true;
  }
};

struct Product {
  Numbers value, size;  // sum of a b, sum of |a b|
};

/// op(a) op(b) from the definition; a and b as stored.
Product naive(const Numbers& a, bool a_transposed, const Numbers& b, bool b_transposed, index_t m, index_t n,
              index_t k) {
  Product c{Numbers(m * n), Numbers(m * n)};
  Numbers row(n);
  for (index_t l = 0; l < k; ++l) {
    for (index_t j = 0; j < n; ++j) row[j] = b[b_transposed ? j * k + l : l * n + j];
    for (index_t i = 0; i < m; ++i) {
      const double factor = a[a_transposed ? l * m + i : i * k + l];
      for (index_t j = 0; j < n; ++j) {
        c.value[i * n + j] += factor * row[j];
        c.size[i * n + j] += std::abs(factor * row[j]);
      }
    }
  }
  return c;
}

template <class In, class Out>
void compare(index_t m, index_t n, index_t k, bool a_transposed, bool b_transposed, index_t gap, Into into,
             index_t before = 0) {
  CAPTURE(m, n, k, a_transposed, b_transposed, gap, into == Into::add, before);
  const Numbers a = rounded<In>(wave(m * k, 1.3)), b = rounded<In>(wave(k * n, 0.7));
  const double held = into == Into::add ? 0.75 : std::numeric_limits<double>::quiet_NaN();
  const Stored<In> A(a, a_transposed ? k : m, a_transposed ? m : k, gap, before);
  const Stored<In> B(b, b_transposed ? n : k, b_transposed ? k : n, 2 * gap, before);
  const Stored<Out> C(Numbers(m * n, held), m, n, gap, before);
  Exec{}.fence();
  Gemm<In, Out>::run(Exec{}, A.input(a_transposed), B.input(b_transposed), into, C);
  Exec{}.fence();

  Product expected = naive(a, a_transposed, b, b_transposed, m, n, k);
  if (into == Into::add)
    for (index_t i = 0; i < m * n; ++i) {
      // half an ulp of a product that was rounded before it was added, in units of the other roundings
      if (on_gpu && std::is_same_v<Out, bf16>)
        expected.size[i] += half_ulp<bf16> * std::abs(expected.value[i]) / (double(k + 1) * half_ulp<float>);
      expected.value[i] += held;
      expected.size[i] += held;
    }
  CHECK(agrees<Out>(C.values(), expected.value, k + 1, expected.size));
  CHECK(C.gaps_untouched());
}

}  // namespace

TEMPLATE_TEST_CASE("gemm: equals the definition, strided and transposed, into NaN and added", "[ops]",
                   (Types<float, float>), (Types<double, double>), (Types<bf16, bf16>), (Types<bf16, float>)) {
  using In = typename TestType::in;
  using Out = typename TestType::out;
  const auto [m, n, k] = GENERATE(table<index_t, index_t, index_t>({{0, 3, 4},
                                                                    {3, 0, 4},
                                                                    {3, 4, 0},
                                                                    {1, 1, 1},
                                                                    {1, 7, 5},
                                                                    {7, 1, 5},
                                                                    {5, 7, 1},
                                                                    {33, 65, 129},
                                                                    {97, 64, 300},
                                                                    {300, 130, 64}}));
  const index_t gap = GENERATE(0, 5);
  for (const bool a_transposed : {false, true})
    for (const bool b_transposed : {false, true})
      for (const Into into : {Into::overwrite, Into::add})
        compare<In, Out>(m, n, k, a_transposed, b_transposed, gap, into);
}

// The algorithm that a library chose for aligned operands must not be used again for others of the same shape.
TEMPLATE_TEST_CASE("gemm: operands may begin at any element", "[ops]", (Types<float, float>), (Types<double, double>),
                   (Types<bf16, bf16>), (Types<bf16, float>)) {
  using In = typename TestType::in;
  using Out = typename TestType::out;
  for (const index_t before : {0, 1, 2, 3, 0})
    for (const bool a_transposed : {false, true})
      for (const bool b_transposed : {false, true}) {
        compare<In, Out>(128, 64, 256, a_transposed, b_transposed, 0, Into::overwrite, before);
        compare<In, Out>(128, 64, 256, a_transposed, b_transposed, 8, Into::add, before);
      }
}

TEMPLATE_TEST_CASE("gemm: a product of several tiles equals the definition", "[ops]", (Types<float, float>),
                   (Types<double, double>), (Types<bf16, bf16>), (Types<bf16, float>)) {
  using In = typename TestType::in;
  using Out = typename TestType::out;
  compare<In, Out>(3, 2100, 3000, false, true, 0, Into::overwrite);
  compare<In, Out>(530, 70, 1500, true, false, 3, Into::add);
  compare<In, Out>(60, 70, 1100, true, true, 3, Into::overwrite);
}

TEMPLATE_TEST_CASE("gemm: results are the same bits on any number of threads", "[ops]", (Types<float, float>),
                   (Types<double, double>), (Types<bf16, bf16>), (Types<bf16, float>)) {
  using In = typename TestType::in;
  using Out = typename TestType::out;
  if (!on_gpu && Exec{}.concurrency() < 3) SKIP("needs OMP_NUM_THREADS >= 3, as ctest sets it");
  // Weight gradients: small results, long sums, where libraries left alone split the sum among their threads.
  const auto [m, n, k] = GENERATE(table<index_t, index_t, index_t>({{64, 64, 4096},
                                                                    {256, 64, 4096},
                                                                    {64, 192, 4096},
                                                                    {256, 256, 4096},
                                                                    {256, 768, 4096},
                                                                    {1, 64, 4096},
                                                                    {8, 8, 10000},
                                                                    {1024, 256, 256},
                                                                    {515, 259, 131}}));
  const bool a_transposed = GENERATE(true, false), b_transposed = GENERATE(true, false);
  CAPTURE(m, n, k, a_transposed, b_transposed);
  const Stored<In> A(wave(m * k, 1.3), a_transposed ? k : m, a_transposed ? m : k, 0);
  const Stored<In> B(wave(k * n, 0.7), b_transposed ? n : k, b_transposed ? k : n, 0);
  Numbers first;
  for_thread_counts([&](const Exec& exec) {
    const Stored<Out> C(Numbers(m * n), m, n, 0);
    Exec{}.fence();
    std::thread([&] {  // of its own, since each keeps the kernels that it chose, with their numbers of threads
      const OpenMPThreads as_many(exec);
      Gemm<In, Out>::run(exec, A.input(a_transposed), B.input(b_transposed), Into::overwrite, C);
      exec.fence();
    })
        .join();
    const Numbers found = C.values();
    if (first.empty()) first = found;
    CHECK(found == first);
  });
}
