#include "core/profile.hpp"

#include <Kokkos_Core.hpp>

namespace annulus {

Region::Region(const char* name) { Kokkos::Profiling::pushRegion(name); }
Region::~Region() { Kokkos::Profiling::popRegion(); }

}  // namespace annulus
