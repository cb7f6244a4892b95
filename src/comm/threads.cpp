#include "comm/threads.hpp"

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

namespace annulus::comm {

namespace {

/// CPU time per time that the control group allows, in cores; containers limit it so.
int allowed_cores() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota, period;
  if (file >> quota >> period) return std::max(1, static_cast<int>(std::floor(quota / period)));
  return CPU_SETSIZE;  // "max", or no such file
}

}  // namespace

void settle_openmp_environment(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return;
  setenv("OMP_WAIT_POLICY", "passive", 0);
  setenv("OMP_PROC_BIND", "false", 0);
  execv("/proc/self/exe", argv);  // where it cannot, the threads spin: slower, and right all the same
}

int CoreShare::threads() const { return std::max(1, std::min(usable, on_node / ranks)); }

CoreShare core_share() {
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  MPI_Comm node;
  CoreShare share{};
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, node);
  MPI_Comm_size(node, &share.ranks);
  MPI_Comm_free(&node);
  share.usable = std::min(CPU_COUNT(&mine), allowed_cores());
  share.on_node = std::min(CPU_COUNT(&all), allowed_cores());
  return share;
}

int requested_threads() {
  for (const char* name : {"KOKKOS_NUM_THREADS", "OMP_NUM_THREADS"})
    if (const char* const threads = std::getenv(name)) return std::max(0, std::atoi(threads));
  return 0;
}

int threads_to_start() {
  const CoreShare share = core_share();
  return requested_threads() > 0 ? requested_threads() : share.threads();
}

}  // namespace annulus::comm
