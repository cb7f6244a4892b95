#include "app/bench_gemm.hpp"

#ifdef ANNULUS_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>
#elif defined(ANNULUS_CUDA)
#include <cublas_v2.h>
#endif

#include "app/bench_seconds.hpp"
#include "core/bf16.hpp"
#include "core/error.hpp"
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
    fill(a);
    fill(b);
  }

  /// Values of all sizes and signs: a GPU's clock rises where the bits of its operands do not change.
  static void fill(const Matrix<In>& x) {
    const index_t columns = x.extent(1);
    Kokkos::parallel_for(
        "annulus::app::bench_gemm[fill]", Kokkos::RangePolicy<Exec>(0, x.size()), KOKKOS_LAMBDA(index_t i) {
          const std::uint32_t bits = static_cast<std::uint32_t>(i) * 2654435761u;
          x(i / columns, i % columns) = In(static_cast<float>(bits >> 8) * 0x1p-23f - 1.0f);
        });
    Kokkos::fence("annulus::app::bench_gemm[filled]");
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
  Direct(const Exec&, const Operands<In>& operands)
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
#elif defined(ANNULUS_CUDA)
constexpr const char* yardstick = "cuBLAS alone";

/// cublasGemmEx, which chooses among the same kernels by a heuristic of its own.
template <class In>
class Direct {
 public:
  Direct(const Exec& exec, const Operands<In>& operands) : operands_(operands) {
    cublasCreate(&handle_);
    cublasSetStream(handle_, exec.cuda_stream());
  }
  ~Direct() { cublasDestroy(handle_); }
  Direct(const Direct&) = delete;
  Direct& operator=(const Direct&) = delete;

  void operator()() const {
    const Shape& s = operands_.shape;
    constexpr cudaDataType_t type = std::is_same_v<In, bf16> ? CUDA_R_16BF : CUDA_R_32F;
    const auto letter = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const auto pitch = [](const auto& x) { return static_cast<int>(x.extent(1)); };
    const float one = 1, zero = 0;
    const cublasStatus_t code =
        cublasGemmEx(handle_, letter(s.b_transposed), letter(s.a_transposed), static_cast<int>(s.n),
                     static_cast<int>(s.m), static_cast<int>(s.k), &one, operands_.b.data(), type, pitch(operands_.b),
                     operands_.a.data(), type, pitch(operands_.a), &zero, operands_.c.data(), CUDA_R_32F,
                     pitch(operands_.c), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    if (code != CUBLAS_STATUS_SUCCESS)
      throw Error(Exit::internal, std::string("cublasGemmEx: ") + cublasGetStatusString(code));
  }

 private:
  const Operands<In>& operands_;
  cublasHandle_t handle_ = nullptr;
};
#else
constexpr const char* yardstick = "none";

template <class In>
struct Direct {
  Direct(const Exec&, const Operands<In>&) {}
  void operator()() const {}
};
#endif

template <class In>
void measure(const Exec& exec, const char* type, const Shape& shape, std::vector<BenchRow>& rows) {
  const Operands<In> operands(shape);
  const Direct<In> direct(exec, operands);
  const auto [seconds, alone] = median_seconds(
      exec, [&] { operands.by_the_seam(exec); }, direct);
  const double operations = 2e-9 * static_cast<double>(shape.m * shape.n * shape.k);
  rows.push_back({shape.name, type, text(shape.m, " x ", shape.n, " x ", shape.k), seconds, operations / seconds,
                  "GFLOP/s", yardstick, std::string(yardstick) == "none" ? 0 : operations / alone});
}

}  // namespace

std::vector<BenchRow> bench_gemm(const Exec& exec) {
  using Widths = std::pair<index_t, index_t>;
  // a CPU: the layers of a model of width 768; a GPU: those of inputs/bluscript-0.5b.toml, and its head
  const index_t tokens = on_gpu ? 16384 : 4096;
  const std::vector<Widths> layers =
      on_gpu ? std::vector<Widths>{{1024, 1536}, {1024, 1024}, {1024, 5632}, {2816, 1024}, {1024, 50304}}
             : std::vector<Widths>{{256, 768}, {768, 768}, {768, 2304}};
  std::vector<BenchRow> rows;
  for (const auto& [from, to] : layers)
    for (const Shape& shape : shapes_of_layer(to > 10000 ? 4096 : tokens, from, to)) {
      measure<float>(exec, "fp32", shape, rows);
      measure<bf16>(exec, "bf16", shape, rows);
    }
  return rows;
}

}  // namespace annulus::app
