/// What `annulus doctor` finds out, line by line, without measuring anything.
#pragma once
#include <string>
#include <vector>

#include "comm/mpi_session.hpp"
#include "comm/threads.hpp"

namespace annulus::app {

struct Finding {
  enum class Verdict { ok, slow, wrong };
  std::string subject;
  Verdict verdict;
  std::string what;    ///< as it is
  std::string advice;  ///< what to do; empty where all is well
};

Finding mpi_finding(const comm::MpiSession& mpi);
/// `threads`: of this rank.
Finding threads_finding(const comm::CoreShare& share, int threads);
/// `products`: ops::gemm_description(), which names the BLAS and its kernel.
Finding products_finding(const std::string& products);
/// Tries what readers of a checkpoint do while a run goes on, in `directory`.
Finding locking_finding(const std::string& directory);

}  // namespace annulus::app
