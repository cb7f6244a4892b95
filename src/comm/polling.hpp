/// The one place where a rank waits for others. While it waits, everything that this process has under way moves on.
#pragma once
#include <memory>

#include "comm/operation.hpp"

namespace annulus::comm {

/// Begins an operation and keeps it going until it is done.
Ticket start(std::shared_ptr<Operation> operation);

/// Until it is done, or nothing has moved for `seconds`; whether it is done.
bool done_within(const Operation& operation, double seconds);

/// Ends the job with exit code 70 when nothing has moved for watchdog_seconds(), after saying what was waited for.
void wait_until_done(const Operation& operation);

/// ANNULUS_WATCHDOG_SECONDS, or 600.
double watchdog_seconds();

/// Whether this process has operations under way.
bool any_under_way();

/// Waits for what a group has under way and `byte` is touched by, or for all of it.
void wait_for_users(const Group& group, const void* byte);
void wait_for_all(const Group& group);

}  // namespace annulus::comm
