/// Loaders whose batches are wrong on more than one rank.
#pragma once
#include <memory>

#include "io/loader.hpp"

namespace annulus::test {

using AlterBatch = void (*)(cp::LocalBatch&);

std::unique_ptr<io::Loader> with_altered_batch(std::unique_ptr<io::Loader> loader, AlterBatch alter);

/// Labels as a rank would make them from its own tokens alone.
void shift_labels_after_the_split(cp::LocalBatch& batch);
/// 0, 1, 2, ... whatever the tokens' places in their row.
void count_positions_on_the_rank(cp::LocalBatch& batch);

}  // namespace annulus::test
