/// An MPI communicator of the same ranks as one of ours, in the same order, for libraries that want MPI's own. It asks
/// only for what every Communicator can do, so that it also works through decorators.
#pragma once
#include <mpi.h>

#include "comm/communicator.hpp"

namespace annulus::io {

class MpiRanks {
 public:
  /// Collective. A group of one rank has none (MPI_COMM_NULL) and does not need MPI to run.
  explicit MpiRanks(comm::Communicator& group);
  ~MpiRanks();
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  MPI_Comm handle() const { return handle_; }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

}  // namespace annulus::io
