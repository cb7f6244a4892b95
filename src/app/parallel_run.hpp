/// What a command that computes on all ranks starts and ends: MPI, Kokkos, the streams.
#pragma once
#include <functional>
#include <memory>

#include "comm/communicator.hpp"
#include "core/error.hpp"
#include "core/streams.hpp"

namespace annulus::app {

class ParallelRun {
 public:
  explicit ParallelRun(int ranks) : ranks_(ranks) {}
  int ranks() const { return ranks_; }
  const Streams& streams() const { return streams_; }
  /// Collective: a communicator of all ranks, of its own.
  std::unique_ptr<comm::Communicator> world() const;

 private:
  int ranks_;
  Streams streams_;
};

/// Starts everything, runs the command's body on all ranks, and ends everything after all ranks have agreed on one exit
/// code. What the body throws is printed here, once. Throws Refused (before Kokkos starts) where a launcher of another
/// MPI started this process.
Exit in_parallel(const std::function<Exit(ParallelRun&)>& body);

}  // namespace annulus::app
