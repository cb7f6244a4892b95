/// Communicators that move the same values at other times, and one that counts them. What a ring computes may depend on
/// none of it.
#pragma once
#include <cstdint>
#include <vector>

#include "comm/forwarding_communicator.hpp"

namespace annulus::test {

/// When a transfer happens, within what the contract allows:
///   plain   as the communicator does it
///   eager   it is over before send_recv returns: a buffer that is still in use is overwritten at once
///   late    it begins when a ticket or a release waits for it: a buffer that is sent too late has changed by then
///   jitter  random pauses before transfers and releases
enum class Timing { plain, eager, late, jitter };

/// The communicator of all ranks; one for all tests, because making one costs more than a test does.
comm::Communicator& world();

class Wire final : public comm::ForwardingCommunicator {
 public:
  Wire(Communicator& inner, Timing timing);
  ~Wire() override;

  comm::Ticket send_recv(const Exec& after, comm::ConstValues send, int to, comm::Values receive, int from) override;
  void release(const void* buffer, const Exec& exec) override;

  index_t bytes_sent() const { return bytes_sent_; }

 private:
  struct Late;
  void pause();

  Timing timing_;
  index_t bytes_sent_ = 0;
  std::uint64_t random_;
  std::vector<std::shared_ptr<Late>> late_;
};

}  // namespace annulus::test
