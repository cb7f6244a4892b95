/// Values on their way between tests (fp64, host) and operators (T, device).
#pragma once
#include <limits>

#include "core/bf16.hpp"
#include "core/views.hpp"
#include "support/numbers.hpp"

namespace annulus::test {

/// What T keeps of the values: a reference must see the operator's own inputs.
template <class T>
Numbers rounded(Numbers values) {
  for (double& value : values) value = static_cast<double>(static_cast<Accum<T>>(T(static_cast<Accum<T>>(value))));
  return values;
}

/// Fills a view of any rank, in memory order.
template <class View>
View upload(const Numbers& values, View view) {
  using T = typename View::non_const_value_type;
  auto host = Kokkos::create_mirror_view(view);
  for (std::size_t n = 0; n < values.size(); ++n) host.data()[n] = T(static_cast<Accum<T>>(values[n]));
  Kokkos::deep_copy(view, host);
  return view;
}

template <class T>
Vector<T> upload(const Numbers& values) {
  return upload(values, Vector<T>("test", values.size()));
}

/// A vector whose every element is NaN: what an operator must overwrite.
template <class T>
Vector<T> poisoned(std::size_t size) {
  return upload<T>(Numbers(size, std::numeric_limits<double>::quiet_NaN()));
}

template <class View>
Numbers download(const View& view) {
  using T = typename View::non_const_value_type;
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  Numbers values(host.size());
  for (std::size_t n = 0; n < values.size(); ++n)
    values[n] = static_cast<double>(static_cast<Accum<T>>(host.data()[n]));
  return values;
}

}  // namespace annulus::test
