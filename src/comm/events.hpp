/// CUDA events for tickets, used again once nobody holds them, so that a steady step creates none.
#pragma once
#include <driver_types.h>

#include <memory>
#include <vector>

#include "comm/communicator.hpp"

namespace annulus::comm {

/// Throws unless `code` is success, naming the call.
void check_cuda(cudaError_t code, const char* call);

class Event : public Ticket::Pending {
 public:
  Event();
  ~Event() override;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream);
  void wait(cudaStream_t stream) const;
  void wait(const Exec& exec) override;
  bool reached() const;

 private:
  cudaEvent_t event_;
};

class EventPool {
 public:
  /// An event that marks what `stream` was given so far.
  std::shared_ptr<Event> record(cudaStream_t stream);

 private:
  std::vector<std::shared_ptr<Event>> events_;
};

}  // namespace annulus::comm
