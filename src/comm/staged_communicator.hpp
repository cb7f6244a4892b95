/// Communicators for the memory of Exec on top of one for host memory.
#pragma once
#include <memory>

#include "comm/communicator.hpp"

namespace annulus::comm {

/// Collective. Serves the memory of Exec: `host` itself where that is host memory; on GPUs NCCL where each rank has one
/// of its own, else host memory in between.
std::unique_ptr<Communicator> on_device(std::unique_ptr<Communicator> host);

/// Messages pass through host memory on both ends. Right rather than fast: it blocks while it copies, and what is
/// received reaches the device only when a ticket is waited for or a buffer released.
std::unique_ptr<Communicator> staged_communicator(std::unique_ptr<Communicator> host);

}  // namespace annulus::comm
