#include "comm/group.hpp"

#include "core/error.hpp"
#include "core/text.hpp"

namespace annulus::comm {

Group::Group(MPI_Comm handle, std::string name) : handle(handle), name(std::move(name)) {
  // Errors of calls on requests go to those of the world or of the process itself, depending on the MPI.
  for (MPI_Comm on : {handle, MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(on, MPI_ERRORS_RETURN);
  MPI_Comm_rank(handle, &rank);
  MPI_Comm_size(handle, &size);
}

void Group::check(int code, const std::string& call, int peer) const {
  if (code == MPI_SUCCESS) return;
  char reason[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, reason, &length);
  throw Error(Exit::internal,
              text("communication failed on rank ", rank, " of ", size, " of \"", name, "\": ", call,
                   peer < 0 ? std::string() : text(", peer ", peer), ": ", std::string(reason, length)));
}

}  // namespace annulus::comm
