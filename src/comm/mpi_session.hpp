/// MPI, from the first to the last communication of a program.
#pragma once
#include <memory>
#include <string>

#include "comm/communicator.hpp"
#include "core/error.hpp"

namespace annulus::comm {

class MpiSession {
 public:
  /// Starts MPI. Refuses when a launcher of another MPI has started this process: it would give as many runs of one
  /// rank each, all writing to the same files.
  MpiSession();
  /// Ends MPI, if this started it.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const;
  int size() const;
  /// Among the ranks of this machine, which share its memory, cores and GPUs.
  int rank_on_node() const;
  int ranks_on_node() const;

  /// The code that all ranks leave with: mpiexec reports the bitwise OR of theirs. The gravest of them. A rank that
  /// leaves because of an error gives the others 10 s to come here too; they may be waiting for it. Then it ends the
  /// job.
  Exit agreed_exit(Exit mine);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// "MPICH 4.0.2": the library that this program runs with.
std::string mpi_library();

/// Ends the job at once, on all ranks.
[[noreturn]] void abort_job(Exit code);

}  // namespace annulus::comm
