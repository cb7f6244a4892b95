#include "wires.hpp"

#include <chrono>
#include <thread>

#include "comm/mpi_communicator.hpp"
#include "comm/staged_communicator.hpp"

namespace annulus::test {

comm::Communicator& world() {
  static comm::Communicator* const all =
      comm::on_device(comm::world_communicator("ring")).release();  // for ever: MPI ends before statics do
  return *all;
}

/// A transfer that waits to be waited for.
struct Wire::Late : comm::Ticket::Pending {
  Communicator& inner;
  comm::ConstValues send;
  comm::Values receive;
  int to, from;
  bool begun = false;
  comm::Ticket ticket{};

  Late(Communicator& inner, comm::ConstValues send, int to, comm::Values receive, int from)
      : inner(inner), send(send), receive(receive), to(to), from(from) {}
  bool touches(const void* buffer) const { return buffer == send.data || buffer == receive.data; }
  void wait(const Exec& exec) override {
    if (!begun) ticket = inner.send_recv(exec, send, to, receive, from);
    begun = true;
    ticket.wait(exec);
  }
};

Wire::Wire(Communicator& inner, Timing timing) : ForwardingCommunicator(inner), timing_(timing), random_(rank() + 1) {}

Wire::~Wire() = default;

comm::Ticket Wire::send_recv(const Exec& after, comm::ConstValues send, int to, comm::Values receive, int from) {
  bytes_sent_ += send.bytes();
  if (timing_ == Timing::late) {
    late_.push_back(std::make_shared<Late>(inner_, send, to, receive, from));
    return comm::Ticket(late_.back());
  }
  if (timing_ == Timing::jitter) pause();
  comm::Ticket ticket = inner_.send_recv(after, send, to, receive, from);
  if (timing_ == Timing::eager) ticket.wait(after);
  return ticket;
}

void Wire::release(const void* buffer, const Exec& exec) {
  if (timing_ == Timing::jitter) pause();
  for (const auto& transfer : late_)
    if (transfer->touches(buffer)) transfer->wait(exec);
  inner_.release(buffer, exec);
}

/// Up to 200 microseconds, other ones on each rank.
void Wire::pause() {
  random_ = random_ * 6364136223846793005u + 1442695040888963407u;
  std::this_thread::sleep_for(std::chrono::microseconds(random_ >> 33) % 200);
}

}  // namespace annulus::test
