/// What is in use of the memory of the GPU that Exec runs on.
#pragma once
#include <optional>

#include "core/types.hpp"

namespace annulus {

struct DeviceMemory {
  index_t used, total;  ///< bytes; used: by all processes, libraries and the driver
};

/// Nothing on hosts.
std::optional<DeviceMemory> device_memory();

}  // namespace annulus
