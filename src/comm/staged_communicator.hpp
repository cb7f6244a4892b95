/// Communicators for the memory of Exec on top of one for host memory.
#pragma once
#include <memory>

#include "comm/communicator.hpp"
#include "comm/transport.hpp"

namespace annulus::comm {

/// Collective. Serves the memory of Exec; one rank: `host` itself. Throws Refused, on all ranks, where there is no NCCL
/// and it was asked for, with the reason.
std::unique_ptr<Communicator> on_device(std::unique_ptr<Communicator> host, Transport transport = Transport::automatic);

/// Messages pass through host memory on both ends. Right rather than fast: it blocks while it copies, and what is
/// received reaches the device only when a ticket is waited for or a buffer released.
std::unique_ptr<Communicator> staged_communicator(std::unique_ptr<Communicator> host);

}  // namespace annulus::comm
