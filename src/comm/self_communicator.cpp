#include "comm/self_communicator.hpp"

#include <cassert>
#include <vector>

#include "comm/event_ticket.hpp"
#include "core/start_copy.hpp"

namespace annulus::comm {

namespace {

class SelfCommunicator : public Communicator {
 public:
  explicit SelfCommunicator(std::string name) : name_(std::move(name)) {}
  int rank() const override { return 0; }
  int size() const override { return 1; }
  const std::string& name() const override { return name_; }
  const char* transport() const override { return "self"; }

  Ticket send_recv(const Exec& after, ConstValues send, [[maybe_unused]] int to, Values receive,
                   [[maybe_unused]] int from) override {
    assert(to == 0 && from == 0);
    return moved(after, send, receive);
  }
  Ticket all_reduce(const Exec& after, Values, Reduction) override { return given_so_far(after); }
  Ticket reduce_scatter(const Exec& after, ConstValues parts, Values own) override { return moved(after, parts, own); }
  Ticket all_gather(const Exec& after, ConstValues own, Values all) override { return moved(after, own, all); }
  Ticket all_to_all(const Exec& after, ConstValues send, Values receive) override {
    return moved(after, send, receive);
  }
  Ticket broadcast(const Exec& after, Values, [[maybe_unused]] int root) override {
    assert(root == 0);
    return given_so_far(after);
  }
  void release(const void*, const Exec& exec) override {
    for (const auto& copy : copies_) copy->wait(exec);
  }
  void agree(Values, Reduction) override {}
  void barrier() override {}
  std::unique_ptr<Communicator> split(int, int, std::string name) override {
    return self_communicator(std::move(name));
  }

 private:
  Ticket moved(const Exec& after, ConstValues from, Values to) {
    assert(from.bytes() == to.bytes());
    if (from.data == to.data) return given_so_far(after);
    start_copy(after, to.data, from.data, to.bytes());
    std::erase_if(copies_, [](const auto& copy) { return copy->reached(); });
    copies_.push_back(events_.record(after));
    return event_ticket(copies_.back());
  }
  Ticket given_so_far(const Exec& after) { return event_ticket(events_.record(after)); }

  std::string name_;
  EventPool events_;
  std::vector<std::shared_ptr<Event>> copies_;  ///< that may be under way
};

}  // namespace

std::unique_ptr<Communicator> self_communicator(std::string name) {
  return std::make_unique<SelfCommunicator>(std::move(name));
}

}  // namespace annulus::comm
