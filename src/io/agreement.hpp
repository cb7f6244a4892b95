/// Keeps ranks together where one of them may fail: a rank that left a series of collective calls would leave the
/// others waiting in the next one for ever.
#pragma once
#include <exception>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace annulus::io {

class Agreement {
 public:
  explicit Agreement(comm::Communicator& ranks) : ranks_(ranks) {}

  /// Keeps the failure of `action` until the ranks meet.
  template <class Action>
  void attempt(const Action& action) {
    try {
      action();
    } catch (const std::exception& e) {
      if (reason_.empty()) reason_ = e.what();
    }
  }
  template <class Action>
  void attempt_on_first(const Action& action) {
    if (ranks_.rank() == 0) attempt(action);
  }
  /// Collective: what the lowest rank with a failure kept, on all ranks; empty when none has failed. Forgets it.
  std::string failure();
  /// Collective: element by element over all ranks, modulo 2^64.
  std::vector<std::uint64_t> sums(const std::vector<std::uint64_t>& mine);
  /// Collective: rank 0's text, on all ranks.
  std::string of_first(const std::string& mine) { return of(0, mine); }

 private:
  std::string of(int rank, const std::string& mine);

  comm::Communicator& ranks_;
  std::string reason_;
};

}  // namespace annulus::io
