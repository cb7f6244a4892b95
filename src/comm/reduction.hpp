/// Sums and maxima of values from several ranks, in rank order, so that their bits depend on nothing but the values.
#pragma once
#include <vector>

#include "comm/communicator.hpp"
#include "core/types.hpp"

namespace annulus::comm {

/// out(i) = terms[0](i) + terms[1](i) + ..., or their maximum; a NaN among them is the result. bf16 is carried in fp32
/// and rounded once.
///   terms  (ranks) arrays of `count` values of `type`  in
///   out    (count)                                     out, may be one of them
void reduce_in_order(Scalar type, Reduction reduction, const std::vector<const void*>& terms, void* out, index_t count);

}  // namespace annulus::comm
