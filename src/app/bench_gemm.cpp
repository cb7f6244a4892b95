#include "app/bench_gemm.hpp"

#ifdef ANNULUS_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>
#endif

#include "app/bench_seconds.hpp"
#include "core/bf16.hpp"
#include "core/text.hpp"
#include "ops/gemm.hpp"

namespace annulus::app {

namespace {

/// c (m, n) = op(a) op(b), as the layers of a model multiply.
struct Shape {
  const char* name;
  index_t m, n, k;
  bool a_transposed, b_transposed;
};

std::vector<Shape> shapes_of_layer(index_t tokens, index_t from, index_t to) {
  return {{"forward", tokens, to, from, false, true},
          {"input gradient", tokens, from, to, false, false},
          {"weight gradient", to, from, tokens, true, false}};
}

template <class In>
struct Operands {
  const Shape& shape;
  Matrix<In> a, b;
  Matrix<Accum<In>> c;

  explicit Operands(const Shape& shape)
      : shape(shape),
        a("annulus::app::a", shape.a_transposed ? shape.k : shape.m, shape.a_transposed ? shape.m : shape.k),
        b("annulus::app::b", shape.b_transposed ? shape.n : shape.k, shape.b_transposed ? shape.k : shape.n),
        c("annulus::app::c", shape.m, shape.n) {
    Kokkos::deep_copy(a, In(1.0f));
    Kokkos::deep_copy(b, In(1.0f));
  }

  void by_the_seam(const Exec& exec) const {
    const ops::Operand<const In> left(a), right(b);
    ops::Gemm<In, Accum<In>>::run(exec, shape.a_transposed ? transposed(left) : left,
                                  shape.b_transposed ? transposed(right) : right, Into::overwrite, c);
  }
};

#ifdef ANNULUS_ONEDNN
constexpr const char* yardstick = "oneDNN alone";

/// The whole product in one call, however oneDNN divides it among the threads.
template <class In>
class Direct {
 public:
  explicit Direct(const Operands<In>& operands)
      : operands_(operands),
        engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_),
        a_(memory(operands.a, operands.shape.a_transposed)),
        b_(memory(operands.b, operands.shape.b_transposed)),
        c_(memory(operands.c, false)),
        product_({{a_.get_desc(), b_.get_desc(), c_.get_desc()}, engine_}) {}

  void operator()() const {
    const Shape& s = operands_.shape;
    if constexpr (std::is_same_v<In, float>)
      dnnl::sgemm(s.a_transposed ? 'T' : 'N', s.b_transposed ? 'T' : 'N', s.m, s.n, s.k, 1.0f, operands_.a.data(),
                  operands_.a.extent(1), operands_.b.data(), operands_.b.extent(1), 0.0f, operands_.c.data(), s.n);
    else
      product_.execute(stream_, {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}});
  }

 private:
  template <class T>
  dnnl::memory memory(const Matrix<T>& x, bool transposed) const {
    const auto type = std::is_same_v<T, bf16> ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
    const dnnl_dim_t rows = x.extent(0), columns = x.extent(1);
    return transposed ? dnnl::memory({{columns, rows}, type, dnnl::memory::dims{1, columns}}, engine_, x.data())
                      : dnnl::memory({{rows, columns}, type, dnnl::memory::dims{columns, 1}}, engine_, x.data());
  }

  const Operands<In>& operands_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::memory a_, b_, c_;
  dnnl::matmul product_;
};
#else
constexpr const char* yardstick = "none";

template <class In>
struct Direct {
  explicit Direct(const Operands<In>&) {}
  void operator()() const {}
};
#endif

template <class In>
void measure(const Exec& exec, const char* type, const Shape& shape, std::vector<BenchRow>& rows) {
  const Operands<In> operands(shape);
  Direct<In> direct(operands);
  const auto [seconds, alone] = median_seconds(
      exec, [&] { operands.by_the_seam(exec); }, direct);
  const double operations = 2e-9 * static_cast<double>(shape.m * shape.n * shape.k);
  rows.push_back({shape.name, type, text(shape.m, " x ", shape.n, " x ", shape.k), seconds, operations / seconds,
                  "GFLOP/s", yardstick, std::string(yardstick) == "none" ? 0 : operations / alone});
}

}  // namespace

std::vector<BenchRow> bench_gemm(const Exec& exec) {
  std::vector<BenchRow> rows;
  for (const auto& [from, to] : {std::pair<index_t, index_t>{256, 768}, {768, 768}, {768, 2304}})
    for (const Shape& shape : shapes_of_layer(4096, from, to)) {
      measure<float>(exec, "fp32", shape, rows);
#ifndef ANNULUS_CUDA
      measure<bf16>(exec, "bf16", shape, rows);
#endif
    }
  return rows;
}

}  // namespace annulus::app
