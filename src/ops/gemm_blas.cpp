/// Products by KokkosBlas. Its header takes half a minute to compile: it is included nowhere else.
#include <KokkosBlas3_gemm.hpp>

#include "core/text.hpp"
#include "ops/gemm_libraries.hpp"

#ifndef ANNULUS_CUDA
// Only an OpenBLAS defines it.
extern "C" __attribute__((weak)) const char* openblas_get_config();
#endif

namespace annulus::ops {

namespace {

/// The stored matrix as BLAS sees it: transposed, its columns `stride` apart. (In KokkosBlas's own reading of
/// LayoutRight a result of one column must be contiguous.)
template <class T>
auto columns_of_blas(const Operand<T>& a) {
  using View = Kokkos::View<T**, Kokkos::LayoutLeft, Exec::device_type, Kokkos::MemoryUnmanaged>;
  return View(
      Kokkos::subview(View(a.data, a.stride, a.rows), Kokkos::pair<index_t, index_t>(0, a.columns), Kokkos::ALL));
}

}  // namespace

template <class T>
void blas_product(const Exec& exec, const Operand<const T>& a, const Operand<const T>& b, Into into,
                  const Operand<T>& c) {
  KokkosBlas::gemm(exec, b.transposed ? "T" : "N", a.transposed ? "T" : "N", T(1), columns_of_blas(b),
                   columns_of_blas(a), into == Into::add ? T(1) : T(0), columns_of_blas(c));
}

#if !defined(ANNULUS_ONEDNN) && !defined(ANNULUS_CUDA)  // they have fp32 products of their own
template void blas_product<float>(const Exec&, const Operand<const float>&, const Operand<const float>&, Into,
                                  const Operand<float>&);
#endif
template void blas_product<double>(const Exec&, const Operand<const double>&, const Operand<const double>&, Into,
                                   const Operand<double>&);

std::string blas_description() {
#ifdef ANNULUS_CUDA
  return "KokkosBlas (cuBLAS)";
#else
  return text("KokkosBlas (", openblas_get_config ? openblas_get_config() : "a BLAS that does not tell its name", ")");
#endif
}

}  // namespace annulus::ops
