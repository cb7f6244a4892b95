/// Why a run should stop before its last step, agreed by all ranks: any rank may have been signalled, rank 0 alone
/// looks at the stop file and the clock.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>

#include "comm/communicator.hpp"

namespace annulus::train {

class StopRequests {
 public:
  /// From now on SIGTERM and SIGUSR1 only ask for a stop. `stop_file`: a run stops when it exists; where it holds a
  /// number, once that many steps are done. `wall_minutes`: since this was made; 0: no limit.
  StopRequests(std::filesystem::path stop_file, double wall_minutes);
  /// Gives the signals back their former meaning.
  ~StopRequests();
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;

  /// Collective, at a step's end: the reason, the same on all ranks; empty to go on.
  std::string agreed(comm::Communicator& world, index_t steps_done) const;
  /// Takes the stop file away, so that a resumed run does not stop at once. Any rank may be the one that does.
  void consume_stop_file() const;

 private:
  bool stop_file_says_so(index_t steps_done) const;

  std::filesystem::path stop_file_;
  double wall_minutes_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  void (*former_term_)(int);
  void (*former_usr1_)(int);
};

}  // namespace annulus::train
