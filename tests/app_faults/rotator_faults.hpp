/// Rotators that move the wrong blocks or gradients.
#pragma once
#include <memory>

#include "cp/rotator.hpp"

namespace annulus::test {

/// What this rank adds to the gradient of the last block that comes to it is multiplied by `factor`.
std::unique_ptr<cp::Rotator> with_scaled_last_hop(std::unique_ptr<cp::Rotator> rotator, double factor);

/// Once `*steps` steps are done, the blocks of other ranks are those of step 0's passes, in their order.
std::unique_ptr<cp::Rotator> stale(std::unique_ptr<cp::Rotator> rotator, std::shared_ptr<const index_t> steps);

/// Every block is zeros, so that attention gives zero: a model without attention, for the check of quickstart's loss.
std::unique_ptr<cp::Rotator> with_zero_blocks(std::unique_ptr<cp::Rotator> rotator);

/// Holds memory that is in no plan.
std::unique_ptr<cp::Rotator> with_stray_memory(std::unique_ptr<cp::Rotator> rotator);

}  // namespace annulus::test
