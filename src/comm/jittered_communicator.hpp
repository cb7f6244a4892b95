/// A communicator whose messages and whose neighbours in the work come at random times, so that what must not depend on
/// them is seen not to: `debug.jitter` puts it around the communicators of a mesh.
#pragma once
#include <cstdint>
#include <memory>

#include "comm/communicator.hpp"

namespace annulus::comm {

/// Each operation has one of four delays, up to `microseconds` long, before what it says: the host issues it late; its
/// messages leave late while the work goes on; the work after it begins late while messages travel; or none. Which, and
/// how long, follows from the seed, this rank, the group's name and the number of the call.
std::unique_ptr<Communicator> jittered_communicator(std::unique_ptr<Communicator> inner, double microseconds,
                                                    std::uint64_t seed);

}  // namespace annulus::comm
