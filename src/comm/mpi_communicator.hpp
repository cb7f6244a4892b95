/// Communicators over MPI, for host memory.
#pragma once
#include <memory>
#include <string>

#include "comm/communicator.hpp"

namespace annulus::comm {

/// Collective: all ranks of the job, in a group of its own. MPI runs (comm/mpi_session.hpp). One rank: "self".
std::unique_ptr<Communicator> world_communicator(std::string name = "world");

}  // namespace annulus::comm
