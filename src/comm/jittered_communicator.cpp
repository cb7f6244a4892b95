#include "comm/jittered_communicator.hpp"

#include <chrono>
#include <optional>
#include <thread>

#include "comm/forwarding_communicator.hpp"
#include "comm/pause.hpp"
#include "core/events.hpp"
#include "core/rng.hpp"
#ifdef ANNULUS_CUDA
#include "comm/queue.hpp"
#endif

namespace annulus::comm {

namespace {

class JitteredCommunicator final : public ForwardingCommunicator {
 public:
  JitteredCommunicator(std::unique_ptr<Communicator> inner, double microseconds, std::uint64_t seed)
      : ForwardingCommunicator(*inner), owned_(std::move(inner)), microseconds_(microseconds), seed_(seed) {
    for (const char c : name()) stream_ = 31 * stream_ + static_cast<unsigned char>(c);
    stream_ = 4096 * stream_ + static_cast<std::uint32_t>(rank());
  }

  Ticket send_recv(const Exec& after, ConstValues send, int to, Values receive, int from) override {
    return delayed(after, [&](const Exec& exec) { return inner_.send_recv(exec, send, to, receive, from); });
  }
  Ticket all_reduce(const Exec& after, Values values, Reduction reduction) override {
    return delayed(after, [&](const Exec& exec) { return inner_.all_reduce(exec, values, reduction); });
  }
  Ticket reduce_scatter(const Exec& after, ConstValues parts, Values own) override {
    return delayed(after, [&](const Exec& exec) { return inner_.reduce_scatter(exec, parts, own); });
  }
  Ticket all_gather(const Exec& after, ConstValues own, Values all) override {
    return delayed(after, [&](const Exec& exec) { return inner_.all_gather(exec, own, all); });
  }
  Ticket all_to_all(const Exec& after, ConstValues send, Values receive) override {
    return delayed(after, [&](const Exec& exec) { return inner_.all_to_all(exec, send, receive); });
  }
  Ticket broadcast(const Exec& after, Values values, int root) override {
    return delayed(after, [&](const Exec& exec) { return inner_.broadcast(exec, values, root); });
  }
  std::unique_ptr<Communicator> split(int color, int key, std::string name) override {
    return jittered_communicator(inner_.split(color, key, std::move(name)), microseconds_, seed_);
  }

 private:
  enum class Late { nothing, issue, messages, work };

  template <class Issue>
  Ticket delayed(const Exec& after, const Issue& issue) {
    const auto late = static_cast<Late>(4 * draw());
    const double time = microseconds_ * draw();
    if (late == Late::issue) std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(time));
    Ticket ticket = issue(late == Late::messages ? paused(after, time) : after);
    if (late == Late::work) pause(after, time);
    return ticket;
  }

  double draw() { return uniform(seed_, Draw::jitter, stream_, draws_++); }

  /// An execution space behind what `after` was given, and behind a pause that `after` does not see.
  const Exec& paused(const Exec& after, double time) {
#ifdef ANNULUS_CUDA
    if (!aside_) aside_.emplace();
    events_.record(after)->wait(aside_->exec());
    pause(aside_->exec(), time);
    return aside_->exec();
#else
    pause(after, time);
    return after;
#endif
  }

  std::unique_ptr<Communicator> owned_;
  double microseconds_;
  std::uint64_t seed_;
  std::uint32_t stream_ = 0;
  std::uint64_t draws_ = 0;
#ifdef ANNULUS_CUDA
  EventPool events_;
  std::optional<Queue> aside_;
#endif
};

}  // namespace

std::unique_ptr<Communicator> jittered_communicator(std::unique_ptr<Communicator> inner, double microseconds,
                                                    std::uint64_t seed) {
  return std::make_unique<JitteredCommunicator>(std::move(inner), microseconds, seed);
}

}  // namespace annulus::comm
