/// What faults do to values in device memory.
#pragma once
#include <memory>

#include "core/exec.hpp"
#include "core/types.hpp"

namespace annulus::test {

/// values[i] *= factor, for fp32 and fp64.
void scale(const Exec& exec, Scalar type, void* values, index_t count, double factor);

/// A copy of `bytes` bytes of device memory.
std::shared_ptr<const void> copied(const Exec& exec, const void* from, index_t bytes);

/// `bytes` bytes of zeros in device memory.
std::shared_ptr<const void> zeros(index_t bytes);

}  // namespace annulus::test
