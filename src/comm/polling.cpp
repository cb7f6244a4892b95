#include "comm/polling.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "comm/mpi_session.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace annulus::comm {

namespace {

using Clock = std::chrono::steady_clock;

/// Of all groups, in the order of issue. Waiting for one must move the others on too: a peer may need them first.
std::vector<std::shared_ptr<Operation>> under_way;

bool progress_all() {
  bool moved = false;
  for (std::size_t i = 0; i < under_way.size(); ++i) moved |= under_way[i]->progress();
  if (moved) std::erase_if(under_way, [](const auto& operation) { return operation->done(); });
  return moved;
}

/// Lets the cores go when there is nothing to do: ranks may outnumber them, and MPI itself only spins.
class Idle {
 public:
  void pause() {
    if (++pauses_ <= spins) return;
    if (pauses_ <= spins + yields)
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  void reset() { pauses_ = 0; }

 private:
  static constexpr int spins = 20, yields = 200;
  int pauses_ = 0;
};

[[noreturn]] void give_up(const Operation& operation, double seconds) {
  const Group& group = operation.group();
  log::error(text("rank ", group.rank, " of ", group.size, " of \"", group.name, "\": nothing has moved for ", seconds,
                  " s in ", operation.description(), "; ending the job"));
  for (const auto& other : under_way)
    if (other.get() != &operation) log::error(text("  also under way: ", other->description()));
  abort_job(Exit::internal);
}

}  // namespace

double watchdog_seconds() {
  const char* const setting = std::getenv("ANNULUS_WATCHDOG_SECONDS");
  const double seconds = setting ? std::atof(setting) : 0;
  return seconds > 0 ? seconds : 600;
}

Ticket start(std::shared_ptr<Operation> operation) {
  operation->begin();
  under_way.push_back(operation);
  progress_all();
  return Ticket(std::move(operation));
}

bool done_within(const Operation& operation, double seconds) {
  Idle idle;
  auto moved = Clock::now();
  while (!operation.done()) {
    if (progress_all()) {
      idle.reset();
      moved = Clock::now();
    } else if (std::chrono::duration<double>(Clock::now() - moved).count() > seconds) {
      return false;
    } else {
      idle.pause();
    }
  }
  return true;
}

void wait_until_done(const Operation& operation) {
  if (!done_within(operation, watchdog_seconds())) give_up(operation, watchdog_seconds());
}

bool any_under_way() {
  return std::any_of(under_way.begin(), under_way.end(), [](const auto& operation) { return !operation->done(); });
}

void wait_for_users(const Group& group, const void* byte) {
  const auto operations = under_way;  // waiting changes the list
  for (const auto& operation : operations)
    if (&operation->group() == &group && operation->touches(byte)) wait_until_done(*operation);
}

void wait_for_all(const Group& group) {
  const auto operations = under_way;
  for (const auto& operation : operations)
    if (&operation->group() == &group) wait_until_done(*operation);
}

}  // namespace annulus::comm
