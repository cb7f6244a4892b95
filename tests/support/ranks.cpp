#include "support/ranks.hpp"

#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <thread>

namespace annulus::test {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience{10};

MPI_Comm verdicts = MPI_COMM_NULL;  // of its own: a case that ended early may have left messages in any other
int my_rank = 0, rank_count = 1;

}  // namespace

int rank() { return my_rank; }
int ranks() { return rank_count; }

MpiRun::MpiRun() {
  int level;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_dup(MPI_COMM_WORLD, &verdicts);
  MPI_Comm_rank(verdicts, &my_rank);
  MPI_Comm_size(verdicts, &rank_count);
}

MpiRun::~MpiRun() {
  MPI_Comm_free(&verdicts);
  MPI_Finalize();
}

std::vector<Verdict> verdicts_of_all(Verdict mine, const std::string& test_case) {
  std::vector<Verdict> all(rank_count);
  static_assert(sizeof(Verdict) == sizeof(int));
  MPI_Request request;
  MPI_Iallgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, verdicts, &request);
  const auto begin = Clock::now();
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return all;
    if (mine != Verdict::passed && Clock::now() - begin > patience) {
      std::cout << std::flush;
      std::fprintf(stderr, "[rank %d] test case \"%s\" was %s here, and not all ranks came to its end: aborting all\n",
                   my_rank, test_case.c_str(), mine == Verdict::failed ? "a failure" : "skipped");
      std::fflush(nullptr);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

}  // namespace annulus::test
