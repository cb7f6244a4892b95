/// The one place where Kokkos types get their project names. Extents and indices are 64-bit.
#pragma once
#include <Kokkos_Core.hpp>
#include <type_traits>

#include "core/exec.hpp"
#include "core/types.hpp"

namespace annulus {

static_assert(std::is_same_v<Exec, Kokkos::DefaultExecutionSpace>, "core/exec.hpp and the Kokkos install disagree");

inline constexpr bool on_gpu = !Kokkos::SpaceAccessibility<Kokkos::HostSpace, Exec::memory_space>::accessible;

template <class T>
using Vector = Kokkos::View<T*, Kokkos::LayoutRight, Exec::memory_space>;
template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Exec::memory_space>;

/// What sums of T are carried in: fp64 for double, fp32 for everything narrower.
template <class T>
using Accum = std::conditional_t<std::is_same_v<std::remove_const_t<T>, double>, double, float>;

}  // namespace annulus
