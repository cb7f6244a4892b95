/// How far an operator's result may lie from the definition in fp64, derived from its roundings.
#pragma once
#ifndef ANNULUS_CUDA
#include <omp.h>
#endif

#include <cmath>

#include "core/bf16.hpp"
#include "support/views.hpp"

namespace annulus::test {

template <class T>
constexpr double half_ulp = std::is_same_v<T, bf16> ? 0x1p-8 : std::numeric_limits<Accum<T>>::epsilon() / 2.0;

/// One rounding to T, after `roundings` roundings in Accum<T> of values up to `size`.
template <class T>
double budget(double expected, double roundings, double size) {
  return half_ulp<T> * std::abs(expected) + roundings * half_ulp<Accum<T>> * size;
}

/// Whether each found value is the expected one within its budget; `sizes` are those of the terms that it sums.
template <class T>
bool agrees(const Numbers& found, const Numbers& expected, double roundings, const Numbers& sizes) {
  if (found.size() != expected.size() || sizes.size() != expected.size()) return false;
  for (std::size_t n = 0; n < found.size(); ++n)
    if (!(std::abs(found[n] - expected[n]) <= budget<T>(expected[n], roundings, sizes[n]))) return false;  // NaN: no
  return true;
}
template <class T>
bool agrees(const Numbers& found, const Numbers& expected, double roundings, double size) {
  return agrees<T>(found, expected, roundings, Numbers(expected.size(), size));
}

/// While it lives, libraries that ask OpenMP on this thread find as many threads as `exec` has.
class OpenMPThreads {
#ifdef ANNULUS_CUDA
 public:
  explicit OpenMPThreads(const Exec&) {}
#else
 public:
  explicit OpenMPThreads(const Exec& exec) { omp_set_num_threads(exec.concurrency()); }
  ~OpenMPThreads() { omp_set_num_threads(before_); }
  OpenMPThreads(const OpenMPThreads&) = delete;
  OpenMPThreads& operator=(const OpenMPThreads&) = delete;

 private:
  int before_ = omp_get_max_threads();
#endif
};

/// body(exec) with execution instances of 1, 2 and 3 threads on a host. Libraries that ask OpenMP are told the same.
template <class Body>
void for_thread_counts(const Body& body) {
  std::vector<Exec> instances = Kokkos::Experimental::partition_space(Exec{}, std::vector<double>{1, 2});
  instances.push_back(Exec{});
  for (const Exec& exec : instances) {
    const OpenMPThreads as_many(exec);
    body(exec);
  }
}

template <class T>
Matrix<T> matrix(const Numbers& values, index_t rows, index_t columns) {
  return upload(values, Matrix<T>("test", rows, columns));
}
template <class T>
Matrix<T> poisoned_matrix(index_t rows, index_t columns) {
  return matrix<T>(Numbers(rows * columns, std::numeric_limits<double>::quiet_NaN()), rows, columns);
}

inline Numbers scaled(Numbers values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

/// Whether `gradient` is the slope of `loss` along each element of `inputs`, which `loss` reads: central differences of
/// step h, whose error is that of the loss's rounding divided by h, plus h^2 / 6 times a third derivative.
template <class Loss>
bool is_slope(const Numbers& gradient, Numbers& inputs, const Loss& loss, double h, double budget) {
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    const double middle = inputs[n];
    inputs[n] = middle + h;
    const double above = loss();
    inputs[n] = middle - h;
    const double below = loss();
    inputs[n] = middle;
    if (!(std::abs(gradient[n] - (above - below) / (2 * h)) <= budget)) return false;
  }
  return gradient.size() == inputs.size();
}

}  // namespace annulus::test
