#include "app_faults/device_values.hpp"

#include <cassert>

#include "core/views.hpp"

namespace annulus::test {

namespace {

template <class A>
void scale_each(const Exec& exec, A* values, index_t count, A factor) {
  Kokkos::parallel_for(
      "annulus::test::scale", Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, count),
      KOKKOS_LAMBDA(index_t i) { values[i] *= factor; });
}

}  // namespace

void scale(const Exec& exec, Scalar type, void* values, index_t count, double factor) {
  assert(type == Scalar::fp32 || type == Scalar::fp64);
  if (type == Scalar::fp64)
    scale_each(exec, static_cast<double*>(values), count, factor);
  else
    scale_each(exec, static_cast<float*>(values), count, static_cast<float>(factor));
}

std::shared_ptr<const void> copied(const Exec& exec, const void* from, index_t bytes) {
  using Bytes = Vector<unsigned char>;
  const auto copy = std::make_shared<Bytes>("annulus::test::copied", bytes);
  Kokkos::deep_copy(exec, *copy, Vector<const unsigned char>(static_cast<const unsigned char*>(from), bytes));
  return {copy, copy->data()};
}

std::shared_ptr<const void> zeros(index_t bytes) {
  const auto memory = std::make_shared<Vector<unsigned char>>("annulus::test::zeros", bytes);
  return {memory, memory->data()};
}

}  // namespace annulus::test
