/// A program's start and end on several ranks, for session.cpp. The first argument says what goes wrong.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "comm/mpi_communicator.hpp"
#include "comm/mpi_session.hpp"
#include "comm/threads.hpp"

using namespace annulus;

namespace {

Exit ended(int rank, int argc, char** argv) try {
  const std::string what = argv[1];
  const auto world = comm::world_communicator();
  if (what == "codes") return static_cast<Exit>(std::atoi(argv[2 + rank % (argc - 2)]));
  if (what == "silent" && rank == 1) pause();
  if (what == "throws" && rank == 1) throw Refused("no such file");
  world->barrier();
  return Exit::done;
} catch (const Error& error) {
  std::printf("rank %d: %s\n", rank, error.what());
  return error.code();
}

}  // namespace

int main(int argc, char** argv) {
  comm::settle_openmp_environment(argv);
  try {
    comm::MpiSession session;
    const int threads = comm::threads_to_start();
    std::printf("rank %d of %d on %s, %d threads, %s\n", session.rank(), session.size(), comm::mpi_library().c_str(),
                threads, std::getenv("OMP_WAIT_POLICY"));
    return static_cast<int>(session.agreed_exit(ended(session.rank(), argc, argv)));
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
