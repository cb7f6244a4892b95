/// What communicators that block do in the memory of Exec, for files that do not see Kokkos. On hosts that is ordinary
/// memory, and work is done when Kokkos returns.
#pragma once
#include <memory>

#include "core/exec.hpp"
#include "core/types.hpp"

namespace annulus::comm {

/// Blocks until what `exec` was given is done.
void finish(const Exec& exec);
/// Between any two memories, after what `exec` was given before. Blocks until the bytes are there.
void copy(const Exec& exec, void* to, const void* from, index_t bytes);

struct StagingFree {
  void operator()(void* buffer) const;
};
/// Host memory that a device copies from and to at full speed.
using StagingBuffer = std::unique_ptr<void, StagingFree>;
StagingBuffer staging_buffer(index_t bytes);

}  // namespace annulus::comm
