#include "app_faults/communicator_faults.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "app_faults/device_values.hpp"
#include "comm/forwarding_communicator.hpp"

namespace annulus::test {

namespace {

class Owning : public comm::ForwardingCommunicator {
 public:
  explicit Owning(std::unique_ptr<Communicator> inner)
      : comm::ForwardingCommunicator(*inner), owned_(std::move(inner)) {}

 private:
  std::unique_ptr<Communicator> owned_;
};

/// Whether these are the numbers of a step: the squared norm of the gradients, then the sum of nll.
bool numbers_of_a_step(comm::Values values, comm::Reduction reduction) {
  return values.type == Scalar::fp64 && values.count == 2 && reduction == comm::Reduction::sum;
}

class NormOverCopies final : public Owning {
 public:
  using Owning::Owning;
  comm::Ticket all_reduce(const Exec& after, comm::Values values, comm::Reduction reduction) override {
    if (numbers_of_a_step(values, reduction)) scale(after, values.type, values.data, 1, size());
    return inner_.all_reduce(after, values, reduction);
  }
};

class StepCounter final : public Owning {
 public:
  StepCounter(std::unique_ptr<Communicator> inner, std::shared_ptr<index_t> steps)
      : Owning(std::move(inner)), steps_(std::move(steps)) {}
  comm::Ticket all_reduce(const Exec& after, comm::Values values, comm::Reduction reduction) override {
    if (numbers_of_a_step(values, reduction)) ++*steps_;
    return inner_.all_reduce(after, values, reduction);
  }

 private:
  std::shared_ptr<index_t> steps_;
};

class SilentRank final : public Owning {
 public:
  SilentRank(std::unique_ptr<Communicator> inner, bool goes_on) : Owning(std::move(inner)), goes_on_(goes_on) {}
  comm::Ticket all_reduce(const Exec& after, comm::Values values, comm::Reduction reduction) override {
    while (rank() == 1 && !goes_on_) std::this_thread::sleep_for(std::chrono::hours(1));
    return rank() == 1 ? comm::Ticket() : inner_.all_reduce(after, values, reduction);
  }

 private:
  bool goes_on_;
};

}  // namespace

std::unique_ptr<comm::Communicator> with_silent_rank(std::unique_ptr<comm::Communicator> reduce, bool goes_on) {
  return std::make_unique<SilentRank>(std::move(reduce), goes_on);
}

std::unique_ptr<comm::Communicator> with_norm_over_copies(std::unique_ptr<comm::Communicator> reduce) {
  return std::make_unique<NormOverCopies>(std::move(reduce));
}

std::unique_ptr<comm::Communicator> counting_steps(std::unique_ptr<comm::Communicator> reduce,
                                                   std::shared_ptr<index_t> steps) {
  return std::make_unique<StepCounter>(std::move(reduce), std::move(steps));
}

}  // namespace annulus::test
