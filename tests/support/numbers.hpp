/// Values for tests and how results are compared, in fp64 on the host; sees no Kokkos.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

namespace annulus::test {

using Numbers = std::vector<double>;

/// Smooth, aperiodic values within 1 of `centre`.
inline Numbers wave(std::size_t size, double step, double centre = 0) {
  Numbers values(size);
  for (std::size_t n = 0; n < size; ++n) values[n] = centre + std::sin(step * static_cast<double>(n) + 0.2);
  return values;
}

/// The Euclidean norm.
inline double norm(const Numbers& a) {
  double squares = 0;
  for (const double value : a) squares += value * value;
  return std::sqrt(squares);
}

/// ||found - expected|| in units of max(||expected||, 1e-3 ||all||), where `all` is everything that the compared tensor
/// is part of: some true gradients are zero, and nothing but rounding can be left of them. NaN anywhere, or another
/// size, is infinitely far.
inline double distance(const Numbers& found, const Numbers& expected, double norm_of_all = 0) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (found.size() != expected.size()) return infinity;
  Numbers difference(found.size());
  std::transform(found.begin(), found.end(), expected.begin(), difference.begin(), std::minus<>());
  const double apart = norm(difference), scale = std::max(norm(expected), 1e-3 * norm_of_all);
  if (std::isnan(apart)) return infinity;
  return apart == 0 ? 0 : apart / scale;
}

}  // namespace annulus::test
