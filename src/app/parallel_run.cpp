#include "app/parallel_run.hpp"

#include "comm/mpi_communicator.hpp"
#include "comm/mpi_session.hpp"
#include "comm/threads.hpp"
#include "core/kokkos_session.hpp"
#include "core/log.hpp"

namespace annulus::app {

std::unique_ptr<comm::Communicator> ParallelRun::world() const { return comm::world_communicator(); }

namespace {

/// All ranks refuse a deck or an input alike: rank 0 says it for all. Anything else may have happened to one of them.
void say(const Error& error, int rank) {
  const bool alike = error.code() == Exit::refused || error.code() == Exit::checkpoint;
  if (rank == 0 || !alike) log::error(error.what());
}

}  // namespace

Exit in_parallel(const std::function<Exit(ParallelRun&)>& body) {
  comm::MpiSession mpi;
  log::set_rank(mpi.rank());
  const KokkosSession kokkos(comm::threads_to_start(), mpi.rank_on_node());
  Exit mine = Exit::internal;
  try {
    ParallelRun run(mpi.size());
    mine = body(run);
  } catch (const Error& error) {
    mine = error.code();
    say(error, mpi.rank());
  } catch (const std::exception& error) {
    log::error(std::string("unexpected: ") + error.what());
  }
  return mpi.agreed_exit(mine);
}

}  // namespace annulus::app
