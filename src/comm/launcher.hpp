/// What started this process, by the environment that it left.
#pragma once
#include <string>

namespace annulus::comm {

struct Launcher {
  std::string name;      ///< "mpiexec of MPICH or Intel MPI"; "no launcher" for a process of its own
  std::string variable;  ///< that says how many ranks it started
  int size;
};

Launcher launcher();

/// One sentence when the launcher started another number of ranks than MPI found; empty when all is well.
std::string launcher_mismatch(const Launcher& launcher, int mpi_size, const std::string& mpi_library);

}  // namespace annulus::comm
