/// The sum that a block's gradient gathers on its way around the ring.
#pragma once
#include "core/exec.hpp"
#include "core/types.hpp"

namespace annulus::cp {

///   mine  (count) of `type` (fp32 or fp64)   in
///   sum   (count) of `type`                  out, or in and out, as `into` says; not mine's memory
void fold_gradient(const Exec& exec, Into into, Scalar type, const void* mine, void* sum, index_t count);

}  // namespace annulus::cp
