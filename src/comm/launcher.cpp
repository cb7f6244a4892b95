#include "comm/launcher.hpp"

#include <cstdlib>

#include "core/text.hpp"

namespace annulus::comm {

Launcher launcher() {
  const char* const slurm = std::getenv("SLURM_STEP_NUM_TASKS");
  // Hydra and Open MPI may themselves use srun to start one proxy on each node: Slurm's count says nothing then.
  if (const char* const size = std::getenv("PMI_SIZE")) {
    const bool by_srun = slurm && std::atoi(slurm) == std::atoi(size);
    return {by_srun ? "srun --mpi=pmi2" : "mpiexec of MPICH or Intel MPI", "PMI_SIZE", std::atoi(size)};
  }
  if (const char* const size = std::getenv("OMPI_COMM_WORLD_SIZE"))
    return {"mpirun of Open MPI", "OMPI_COMM_WORLD_SIZE", std::atoi(size)};
  if (slurm) return {"srun", "SLURM_STEP_NUM_TASKS", std::atoi(slurm)};
  return {"no launcher", "", 1};
}

std::string launcher_mismatch(const Launcher& launcher, int mpi_size, const std::string& mpi_library) {
  if (launcher.size == mpi_size) return {};
  const bool open_mpi = mpi_library.find("Open MPI") != std::string::npos;
  return text("started as one of ", launcher.size, " ranks by ", launcher.name, " (", launcher.variable, "), but ",
              mpi_library, ", which this program uses, sees ", mpi_size, ": start it with ",
              open_mpi ? "Open MPI's own mpirun, or srun --mpi=pmix" : "MPICH's own mpiexec, or srun --mpi=pmi2");
}

}  // namespace annulus::comm
