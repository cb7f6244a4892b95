#include "model/numbers_download.hpp"

#include <cassert>
#include <cmath>

#include "core/start_copy.hpp"

namespace annulus::model {

namespace {

StepNumbers numbers_of(const double* sums) { return {.nll_sum = sums[1], .gradient_norm = std::sqrt(sums[0])}; }

}  // namespace

#ifdef ANNULUS_CUDA

NumbersDownload::NumbersDownload(double* pinned) {
  for (int n = 0; n < slots; ++n) slots_[n].values = pinned + n * sums;
}

StepTicket NumbersDownload::begin(const Exec& exec, const double* from) {
  Slot& slot = slots_[calls_++ % slots];
  start_copy(exec, slot.values, from, sums * index_t(sizeof(double)));
  slot.arrived.record(exec);
  return StepTicket([&slot, use = ++slot.uses] {
    assert(slot.uses == use);
    slot.arrived.block();
    return numbers_of(slot.values);
  });
}

#else

NumbersDownload::NumbersDownload(double*) {}

StepTicket NumbersDownload::begin(const Exec&, const double* from) { return numbers_of(from); }

#endif

}  // namespace annulus::model
