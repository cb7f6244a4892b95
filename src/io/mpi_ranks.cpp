#include "io/mpi_ranks.hpp"

#include <exception>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"

namespace annulus::io {

MpiRanks::MpiRanks(comm::Communicator& group) {
  if (group.size() == 1) return;
  int mine = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &mine);
  std::vector<index_t> members(group.size(), 0);
  members[group.rank()] = mine;
  group.agree({members.data(), index_t(members.size()), Scalar::int64}, comm::Reduction::sum);

  const std::vector<int> ranks(members.begin(), members.end());
  MPI_Group world, chosen;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &chosen);
  const int status = MPI_Comm_create_group(MPI_COMM_WORLD, chosen, 0, &handle_);
  MPI_Group_free(&chosen);
  MPI_Group_free(&world);
  if (status != MPI_SUCCESS)
    throw Error(Exit::internal, text("MPI made no communicator for the ", ranks.size(), " ranks of ", group.name()));
  MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN);
}

MpiRanks::~MpiRanks() {
  if (handle_ != MPI_COMM_NULL) MPI_Comm_free(&handle_);
}

}  // namespace annulus::io
