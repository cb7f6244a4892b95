#include "comm/mpi_session.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "comm/group.hpp"
#include "comm/launcher.hpp"
#include "comm/ordered_reduction.hpp"
#include "comm/polling.hpp"

namespace annulus::comm {

namespace {

/// From the least to the gravest.
constexpr Exit by_gravity[] = {Exit::done,       Exit::stopped, Exit::failed,
                               Exit::checkpoint, Exit::refused, Exit::internal};

}  // namespace

struct MpiSession::State {
  bool started;                    ///< by this session
  std::shared_ptr<Group> leaving;  ///< for agreed_exit alone
  int rank_on_node, ranks_on_node;
};

MpiSession::MpiSession() : state_(std::make_unique<State>()) {
  int running;
  MPI_Initialized(&running);
  state_->started = !running;
  if (state_->started) {
    int level;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  }
  MPI_Comm leaving, node;
  MPI_Comm_dup(MPI_COMM_WORLD, &leaving);
  state_->leaving = std::make_shared<Group>(leaving, "leaving");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &state_->rank_on_node);
  MPI_Comm_size(node, &state_->ranks_on_node);
  MPI_Comm_free(&node);
  if (const std::string mismatch = launcher_mismatch(launcher(), size(), mpi_library()); !mismatch.empty()) {
    if (state_->started) MPI_Finalize();
    throw Refused(mismatch);
  }
}

MpiSession::~MpiSession() {
  MPI_Comm_free(&state_->leaving->handle);
  if (state_->started) MPI_Finalize();
}

int MpiSession::rank() const { return state_->leaving->rank; }
int MpiSession::size() const { return state_->leaving->size; }
int MpiSession::rank_on_node() const { return state_->rank_on_node; }
int MpiSession::ranks_on_node() const { return state_->ranks_on_node; }

Exit MpiSession::agreed_exit(Exit mine) {
  std::int32_t gravity =
      static_cast<std::int32_t>(std::find(std::begin(by_gravity), std::end(by_gravity), mine) - by_gravity);
  const auto operation = ordered_all_reduce(state_->leaving, {&gravity, 1, Scalar::int32}, Reduction::max, 1);
  try {
    start(operation);
    if (mine == Exit::done || mine == Exit::stopped)
      wait_until_done(*operation);
    else if (!done_within(*operation, std::min(10.0, watchdog_seconds() / 2)))
      abort_job(mine);
  } catch (const Error&) {  // of an operation that the first error has left under way
    abort_job(mine);
  }
  const Exit agreed = by_gravity[gravity];
  if (any_under_way()) abort_job(agreed);  // their buffers are gone
  return agreed;
}

std::string mpi_library() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  // MPICH's begins "MPICH Version:      4.0.2\nMPICH Release date: ..."; others' with a line that says it all.
  std::string line = std::string(version, length);
  line = line.substr(0, line.find('\n'));
  const std::string label = " Version:";
  if (const auto at = line.find(label); at != std::string::npos)
    line = line.substr(0, at) + " " + line.substr(line.find_first_not_of(" \t", at + label.size()));
  return line.substr(0, line.find(", package"));
}

void abort_job(Exit code) {
  std::fflush(nullptr);
  int running = 0, ended = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&ended);
  if (running && !ended) MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
  std::_Exit(static_cast<int>(code));
}

}  // namespace annulus::comm
