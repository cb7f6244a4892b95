/// Copies in the order of an execution space's work.
#pragma once
#include "core/exec.hpp"
#include "core/types.hpp"

namespace annulus {

/// Between any two memories, after what `exec` was given before. On a GPU it returns before the bytes are there, unless
/// one end is pageable host memory; on hosts it is done when it returns.
void start_copy(const Exec& exec, void* to, const void* from, index_t bytes);

}  // namespace annulus
