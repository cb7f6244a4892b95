/// Tickets for operations that an event marks.
#pragma once
#include <memory>

#include "comm/communicator.hpp"
#include "core/events.hpp"

namespace annulus::comm {

/// Waits for what `event` marks; holds it, so that a pool does not use it again.
inline Ticket event_ticket(std::shared_ptr<const Event> event) {
  struct Marked final : Ticket::Pending {
    explicit Marked(std::shared_ptr<const Event> event) : event(std::move(event)) {}
    void wait(const Exec& exec) override { event->wait(exec); }
    std::shared_ptr<const Event> event;
  };
  return Ticket(std::make_shared<Marked>(std::move(event)));
}

}  // namespace annulus::comm
