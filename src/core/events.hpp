/// Marks in the work that an execution space is given, so that another one, or the host, waits for that much and no
/// more. On hosts work is done when Kokkos returns, and there is nothing to wait for.
#pragma once
#include <memory>
#include <vector>

#include "core/exec.hpp"

struct CUevent_st;

namespace annulus {

class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Marks what `exec` was given so far, in place of an earlier mark.
  void record(const Exec& exec);
  /// What `exec` is given from now on runs after what is marked. Without a mark there is nothing to wait for.
  void wait(const Exec& exec) const;
  bool reached() const;
  /// Blocks the host until it is reached.
  void block() const;

 private:
  CUevent_st* event_ = nullptr;
};

/// Events that are used again once nobody holds them, so that a steady step creates none.
class EventPool {
 public:
  /// An event that marks what `exec` was given so far.
  std::shared_ptr<Event> record(const Exec& exec);

 private:
  std::vector<std::shared_ptr<Event>> events_;
};

}  // namespace annulus
