/// The ranks that a test program runs on: as many as mpiexec started, or one.
#pragma once
#include <string>
#include <vector>

namespace annulus::test {

int rank();
int ranks();

/// How a test case ended on a rank.
enum class Verdict : int { passed, failed, skipped };

/// Collective: every rank's verdict on a case. A rank that did not pass gives the others a while to come to the end of
/// the case too; they may wait for it in an operation that it never began. Then it ends the job, naming itself and the
/// case.
std::vector<Verdict> verdicts_of_all(Verdict mine, const std::string& test_case);

/// MPI, from here to the end of the scope.
class MpiRun {
 public:
  MpiRun();
  ~MpiRun();
  MpiRun(const MpiRun&) = delete;
  MpiRun& operator=(const MpiRun&) = delete;
};

}  // namespace annulus::test
