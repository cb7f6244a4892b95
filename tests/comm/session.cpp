#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <thread>

#include "comm/launcher.hpp"
#include "comm/threads.hpp"
#include "support/command.hpp"
#include "support/places.hpp"

using namespace annulus;
using namespace annulus::test;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string probe = program_path("session_probe");
/// As nobody started it: this test's own launcher would be the probe's.
const std::string bare = "env -u PMI_SIZE -u PMI_RANK -u PMI_FD -u OMPI_COMM_WORLD_SIZE -u SLURM_STEP_NUM_TASKS ";

}  // namespace

TEST_CASE("session: starts alone and under its own launcher", "[comm]") {
  const Outcome alone = run(bare + probe + " nothing");
  CHECK(alone.code == 0);
  CHECK_THAT(alone.output, ContainsSubstring("rank 0 of 1 on "));
  const Outcome three = run(bare + on_ranks(3) + probe + " nothing");
  CHECK(three.code == 0);
  for (const char* rank : {"rank 0 of 3", "rank 1 of 3", "rank 2 of 3"})
    CHECK_THAT(three.output, ContainsSubstring(rank));
}

TEST_CASE("session: ranks of another MPI's launcher are refused, naming it and what to use", "[comm]") {
  const struct {
    const char *variable, *launcher;
  } cases[] = {{"PMI_SIZE", "mpiexec of MPICH"},
               {"OMPI_COMM_WORLD_SIZE", "mpirun of Open MPI"},
               {"SLURM_STEP_NUM_TASKS", "srun"}};
  for (const auto& [variable, launcher] : cases) {
    const Outcome outcome = run(bare + variable + "=3 " + probe + " nothing");
    CAPTURE(variable, outcome.output);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.output, ContainsSubstring(std::string("one of 3 ranks by ") + launcher));
    CHECK_THAT(outcome.output, ContainsSubstring("sees 1: start it with"));
    CHECK(std::count(outcome.output.begin(), outcome.output.end(), '\n') == 1);
    CHECK(run(bare + variable + "=1 " + probe + " nothing").code == 0);
  }
}

TEST_CASE("session: Slurm's count says nothing when another launcher runs inside its step", "[comm]") {
  CHECK(run(bare + "SLURM_STEP_NUM_TASKS=7 " + on_ranks(2) + probe + " nothing").code == 0);
}

TEST_CASE("session: all ranks leave with the gravest code, not with the OR of all", "[comm]") {
  CHECK(run(bare + on_ranks(3) + probe + " codes 85 0 85").code == 85);
  CHECK(run(bare + on_ranks(3) + probe + " codes 2 85 4").code == 2);
  CHECK(run(bare + on_ranks(2) + probe + " codes 3 70").code == 70);
  CHECK(run(bare + on_ranks(4) + probe + " codes 0 0 0 4").code == 4);
}

TEST_CASE("session: an error on one rank ends the others, which wait for it", "[comm]") {
  const Outcome outcome = run("ANNULUS_WATCHDOG_SECONDS=4 " + bare + on_ranks(3) + probe + " throws");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.output, ContainsSubstring("rank 1: no such file"));
}

TEST_CASE("session: the watchdog names what a silent rank keeps the others from, and ends the job", "[comm]") {
  const Outcome outcome = run("ANNULUS_WATCHDOG_SECONDS=1 " + bare + on_ranks(2) + probe + " silent");
  CHECK(outcome.code == 70);
  CHECK_THAT(outcome.output,
             ContainsSubstring("rank 0 of 2 of \"world\": nothing has moved for 1 s in all_reduce, operation 0 "
                               "of \"world\", waiting for rank 1 to send"));
}

TEST_CASE("threads: ranks share the cores, and idle threads sleep", "[comm]") {
  const std::string unset = bare + "-u OMP_NUM_THREADS -u KOKKOS_NUM_THREADS -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT ";
  const int cores = comm::core_share().usable;
  for (const int ranks : {1, 2, 3}) {
    const Outcome outcome = run(unset + on_ranks(ranks) + probe + " nothing");
    CHECK_THAT(outcome.output, ContainsSubstring(std::to_string(std::max(1, cores / ranks)) + " threads, passive"));
  }
  const Outcome asked = run(unset + "OMP_NUM_THREADS=5 OMP_WAIT_POLICY=active " + probe + " nothing");
  CHECK_THAT(asked.output, ContainsSubstring("5 threads, active"));
}

TEST_CASE("threads: ranks bound by their launcher use their own cores", "[comm]") {
  CHECK(comm::CoreShare{4, 8, 2}.threads() == 4);
  CHECK(comm::CoreShare{8, 8, 3}.threads() == 2);
  CHECK(comm::CoreShare{2, 2, 4}.threads() == 1);
  CHECK(comm::CoreShare{1, 8, 2}.threads() == 1);
  CHECK((comm::CoreShare{4, 8, 2}.bound() && !comm::CoreShare{8, 8, 2}.bound()));
}
