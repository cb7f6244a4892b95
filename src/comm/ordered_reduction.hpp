/// Sums over ranks in rank order, so that the bits are the same on every rank and in every run. Each rank sums one
/// part: it gets that part from everyone and, in an all-reduce, returns the sum to everyone. Long parts go in slices,
/// so that what waits to be summed stays small.
#pragma once
#include <memory>

#include "comm/operation.hpp"

namespace annulus::comm {

/// Rank r gets part r's sum in `own`; `tag` and `tag + 1` are this operation's alone.
std::shared_ptr<Operation> ordered_reduce_scatter(std::shared_ptr<Group> group, ConstValues parts, Values own, int tag);
/// In place, on all of `values`.
std::shared_ptr<Operation> ordered_all_reduce(std::shared_ptr<Group> group, Values values, Reduction reduction,
                                              int tag);

}  // namespace annulus::comm
