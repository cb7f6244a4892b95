#include "ops/gemm_cublaslt.hpp"

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "core/error.hpp"
#include "core/text.hpp"

namespace annulus::ops {

namespace {

void check(cublasStatus_t code, const std::string& call) {
  if (code != CUBLAS_STATUS_SUCCESS) throw Error(Exit::internal, call + ": " + cublasLtGetStatusString(code));
}

cudaDataType_t type_of(Scalar type) { return type == Scalar::bf16 ? CUDA_R_16BF : CUDA_R_32F; }

/// The bytes that the address of each row is a multiple of, as far as kernels care.
std::uint32_t alignment_of(const StoredMatrix& a, Scalar type) {
  const auto bits =
      reinterpret_cast<std::uintptr_t>(a.data) | static_cast<std::uintptr_t>(a.stride * size_of(type)) | 256;
  return static_cast<std::uint32_t>(bits & -bits);
}

/// A product of one shape, in the library's terms: column-major, so that it forms c^T = b^T a^T.
class Product {
 public:
  Product(cublasLtHandle_t handle, Scalar in, Scalar out, const StoredMatrix& a, const StoredMatrix& b, Into into,
          const StoredMatrix& c)
      : beta_(into == Into::add ? 1.0f : 0.0f) {
    check(cublasLtMatmulDescInit(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescInit");
    set(CUBLASLT_MATMUL_DESC_TRANSA, b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    layout(a_, in, a);
    layout(b_, in, b);
    layout(c_, out, c);
    choose(handle, in, out, a, b, c);
  }

  void run(cublasLtHandle_t handle, cudaStream_t stream, const void* a, const void* b, void* c, void* workspace) {
    const float one = 1;
    check(cublasLtMatmul(handle, &operation_, &one, b, &b_, a, &a_, &beta_, c, &c_, c, &c_, &algorithm_, workspace,
                         cublaslt_workspace, stream),
          "cublasLtMatmul");
  }

 private:
  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, Value value) {
    check(cublasLtMatmulDescSetAttribute(&operation_, attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  }

  static void layout(cublasLtMatrixLayoutOpaque_t& layout, Scalar type, const StoredMatrix& a) {
    check(cublasLtMatrixLayoutInit(&layout, type_of(type), a.columns, a.rows, a.stride), "cublasLtMatrixLayoutInit");
  }

  void choose(cublasLtHandle_t handle, Scalar in, Scalar out, const StoredMatrix& a, const StoredMatrix& b,
              const StoredMatrix& c) {
    cublasLtMatmulPreferenceOpaque_t preference;
    check(cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit");
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
      check(cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof value),
            "cublasLtMatmulPreferenceSetAttribute");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{cublaslt_workspace});
    // parts of a long sum are added in fp32, also where c is bf16
    const std::uint32_t in_output = out == Scalar::fp32 ? CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE : 0;
    prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
           in_output | CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(b, in));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(a, in));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(c, out));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(c, out));
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    const std::string call = text("cublasLtMatmulAlgoGetHeuristic for ", c.rows, " x ", c.columns, " of ", name_of(in));
    check(cublasLtMatmulAlgoGetHeuristic(handle, &operation_, &b_, &a_, &c_, &c_, &preference, 1, &found, &count),
          call);
    check(count > 0 ? found.state : CUBLAS_STATUS_NOT_SUPPORTED, call);
    algorithm_ = found.algo;
  }

  cublasLtMatmulDescOpaque_t operation_;
  cublasLtMatrixLayoutOpaque_t a_, b_, c_;
  cublasLtMatmulAlgo_t algorithm_;
  float beta_;
};

/// The library's handle, the products met so far, and a workspace for each stream: two products in flight must not
/// share one. It lives as long as the process: the driver may be gone when static objects go.
class Library {
 public:
  static Library& instance() {
    static Library* const library = new Library;
    return *library;
  }

  void run(cudaStream_t stream, Scalar in, Scalar out, const StoredMatrix& a, const StoredMatrix& b, Into into,
           const StoredMatrix& c) {
    const Key key{c.rows,
                  c.columns,
                  a.transposed ? a.rows : a.columns,
                  a.stride,
                  b.stride,
                  c.stride,
                  a.transposed,
                  b.transposed,
                  into == Into::add,
                  static_cast<index_t>(in),
                  static_cast<index_t>(out),
                  alignment_of(a, in),
                  alignment_of(b, in),
                  alignment_of(c, out)};
    auto found = products_.find(key);
    if (found == products_.end()) {
      if (products_.size() >= 512) products_.clear();  // lengths that vary without end must not fill the memory
      found = products_.emplace(key, Product(handle_, in, out, a, b, into, c)).first;
    }
    found->second.run(handle_, stream, a.data, b.data, c.data, workspace(stream));
  }

 private:
  using Key = std::array<index_t, 14>;

  Library() { check(cublasLtCreate(&handle_), "cublasLtCreate"); }

  void* workspace(cudaStream_t stream) {
    void*& memory = workspaces_[stream];
    if (!memory)
      if (const cudaError_t code = cudaMalloc(&memory, cublaslt_workspace); code != cudaSuccess)
        throw Error(Exit::internal, text("cudaMalloc of a workspace for products: ", cudaGetErrorString(code)));
    return memory;
  }

  cublasLtHandle_t handle_ = nullptr;
  std::map<Key, Product> products_;
  std::map<cudaStream_t, void*> workspaces_;
};

}  // namespace

void cublaslt_product(cudaStream_t stream, Scalar in, Scalar out, const StoredMatrix& a, const StoredMatrix& b,
                      Into into, const StoredMatrix& c) {
  Library::instance().run(stream, in, out, a, b, into, c);
}

std::string cublaslt_description() {
  const std::size_t version = cublasLtGetVersion();
  return text("cuBLASLt ", version / 10000, ".", version / 100 % 100, ".", version % 100);
}

}  // namespace annulus::ops
