/// The ranks of one MPI communicator, which nothing else sends on.
#pragma once
#include <mpi.h>

#include <string>

#include "core/types.hpp"

namespace annulus::comm {

struct Group {
  /// From now on MPI's errors on it come back as codes.
  Group(MPI_Comm handle, std::string name);

  MPI_Comm handle;
  std::string name;
  int rank = 0, size = 0;
  index_t operations = 0;  ///< issued so far

  /// Throws unless `code` is success, naming the call, this rank, the group and (where there is one) the peer.
  void check(int code, const std::string& call, int peer = -1) const;
};

}  // namespace annulus::comm
