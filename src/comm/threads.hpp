/// How many threads a rank should run, and how they should wait. With OpenMP's own defaults each rank takes all cores
/// and its idle threads spin on them: two ranks on two cores were 20 to 100 times slower.
#pragma once

namespace annulus::comm {

/// The first act of main: lets idle threads sleep and leaves binding to the launcher, unless the environment says
/// otherwise. The OpenMP library reads this when it is loaded, so the program begins anew, once, with the variables
/// set.
void settle_openmp_environment(char** argv);

/// Cores of this machine, shared by the ranks on it.
struct CoreShare {
  int usable;   ///< cores that this rank may run on, by its affinity and its control group
  int on_node;  ///< cores that the ranks here may run on together
  int ranks;    ///< ranks here
  /// The launcher has given this rank cores of its own.
  bool bound() const { return usable < on_node; }
  /// Threads per rank with which nobody waits for a core.
  int threads() const;
};

/// Collective over all ranks; MPI runs.
CoreShare core_share();

/// What the user asked for by OMP_NUM_THREADS or KOKKOS_NUM_THREADS; 0: nothing.
int requested_threads();

/// Collective: the number of threads to start Kokkos with.
int threads_to_start();

}  // namespace annulus::comm
