/// comm/reduction.hpp in the memory of Exec, once the terms of all ranks lie there.
#pragma once
#include "comm/communicator.hpp"
#include "core/exec.hpp"
#include "core/types.hpp"

namespace annulus::comm {

/// The terms of `ranks` ranks for the same values: this rank's where it has always been, the others' where they were
/// received, rank r's at received + r * stride.
struct GatheredTerms {
  const void* received;
  index_t stride;  ///< values
  const void* own;
  int rank, ranks;
};

/// out(i) = rank 0's term + rank 1's + ..., or their maximum: the bits of reduce_in_order. `out` may be the own term.
void reduce_gathered(const Exec& exec, Reduction reduction, const GatheredTerms& terms, Values out);

}  // namespace annulus::comm
