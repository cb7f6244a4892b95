/// Names a stretch of work for Kokkos Tools, nested, until the end of its scope: "annulus::<room>::<step>[path taken]".
#pragma once

namespace annulus {

class Region {
 public:
  explicit Region(const char* name);
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
};

}  // namespace annulus
