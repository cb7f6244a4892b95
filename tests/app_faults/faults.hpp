/// Faults that real trainers have had, behind the real seams of the program: `annulus verify` must see each.
///   dkv-sign         the last hop's part of the gradients of keys and values is subtracted
///   dropped-hop      the last hop's part of the gradients of keys and values is lost
///   stale-rotator    from the second step on, the keys and values that arrive are those of the first step
///   shifted-labels   labels are shifted after the split: each rank's last token has none
///   local-positions  RoPE positions are counted on the rank
///   norm-over-copies every rank squares the whole gradient instead of the shard that it owns
/// and what results do not show: late-numbers (a step is told late), third-nan and third-nan-late (the third step's
/// loss is no number), and those of app_faults/device_faults.hpp.
#pragma once
#include <string>
#include <vector>

#include "app/seams.hpp"

namespace annulus::test {

std::vector<std::string> fault_names();

/// The seams with one fault; without any for an empty name. Throws Refused for another.
app::Seams seams_with(const std::string& fault);

}  // namespace annulus::test
