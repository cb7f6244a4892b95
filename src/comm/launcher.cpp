#include "comm/launcher.hpp"

#include <cstdlib>

#include "core/text.hpp"

namespace annulus::comm {

Launcher launcher() {
  // Hydra and Open MPI may themselves use srun to start one proxy on each node: Slurm's count says nothing then.
  for (const auto& [variable, name] :
       {std::pair{"PMI_SIZE", "mpiexec of MPICH or Intel MPI, or srun --mpi=pmi2"},
        std::pair{"OMPI_COMM_WORLD_SIZE", "mpirun of Open MPI"}, std::pair{"SLURM_STEP_NUM_TASKS", "srun"}})
    if (const char* const size = std::getenv(variable)) return {name, variable, std::atoi(size)};
  return {"nothing", "", 1};
}

std::string launcher_mismatch(const Launcher& launcher, int mpi_size, const std::string& mpi_library) {
  if (launcher.size == mpi_size) return {};
  const bool open_mpi = mpi_library.find("Open MPI") != std::string::npos;
  return text("started as one of ", launcher.size, " ranks by ", launcher.name, " (", launcher.variable, "), but ",
              mpi_library, ", which this program uses, sees ", mpi_size, ": start it with ",
              open_mpi ? "Open MPI's own mpirun, or srun --mpi=pmix" : "MPICH's own mpiexec, or srun --mpi=pmi2");
}

}  // namespace annulus::comm
