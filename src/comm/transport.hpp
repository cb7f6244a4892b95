/// How values travel between the memories of Exec of a mesh's ranks.
#pragma once
#include <string_view>

namespace annulus::comm {

/// `automatic`: by MPI where that is host memory; on GPUs over NCCL where each rank has one of its own, else by MPI
/// through host memory.
enum class Transport { automatic, mpi, nccl };

/// Of mesh.transport: "auto", "mpi" or "nccl".
inline Transport transport_named(std::string_view name) {
  return name == "mpi" ? Transport::mpi : name == "nccl" ? Transport::nccl : Transport::automatic;
}

}  // namespace annulus::comm
