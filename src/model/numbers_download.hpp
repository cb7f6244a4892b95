/// A step's numbers on their way to the host: one copy into pinned memory in the order of compute(), read when someone
/// asks. On hosts they are at hand.
#pragma once
#include <array>

#include "core/events.hpp"
#include "core/exec.hpp"
#include "model/model.hpp"

namespace annulus::model {

class NumbersDownload {
 public:
#ifdef ANNULUS_CUDA
  static constexpr int slots = 2;  ///< the step whose numbers are read, and the one that has been given out since
#else
  static constexpr int slots = 0;
#endif
  static constexpr index_t sums = 2;              ///< squared norm of the gradients, sum of nll
  static constexpr index_t count = slots * sums;  ///< pinned elements

  explicit NumbersDownload(double* pinned);

  /// `from`: the sums in the memory of Exec, written by what `exec` was given. The ticket is good until the second next
  /// call.
  StepTicket begin(const Exec& exec, const double* from);

 private:
  struct Slot {
    double* values = nullptr;
    Event arrived;
    index_t uses = 0;
  };
  std::array<Slot, slots> slots_;
  index_t calls_ = 0;
};

}  // namespace annulus::model
