/// Communicators that sum the wrong numbers, or only listen.
#pragma once
#include <functional>
#include <memory>

#include "comm/communicator.hpp"

namespace annulus::test {

using DecorateReduce = std::function<std::unique_ptr<comm::Communicator>(std::unique_ptr<comm::Communicator>)>;

/// Rank 1 stays out of the sums over ranks. `goes_on`: its host does all else; false: it does nothing any more.
std::unique_ptr<comm::Communicator> with_silent_rank(std::unique_ptr<comm::Communicator> reduce, bool goes_on);

/// The squared norm comes out as if every rank had squared the whole gradient: as many times too large as there are
/// ranks.
std::unique_ptr<comm::Communicator> with_norm_over_copies(std::unique_ptr<comm::Communicator> reduce);

/// Changes nothing and counts the steps that are done, by the sum of their numbers.
std::unique_ptr<comm::Communicator> counting_steps(std::unique_ptr<comm::Communicator> reduce,
                                                   std::shared_ptr<index_t> steps);

}  // namespace annulus::test
