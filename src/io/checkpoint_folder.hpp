/// The files of a run's checkpoints. One rank's business; the others hear of it.
#pragma once
#include <filesystem>
#include <vector>

#include "core/types.hpp"

namespace annulus::io {

/// Under which a checkpoint is written; never read.
std::filesystem::path partial_path(const std::filesystem::path& checkpoint);
/// Steps of the run's checkpoints, newest first: files under their final name, damaged or not.
std::vector<index_t> checkpoint_steps(const std::filesystem::path& run);
/// Makes the folder, and removes what killed runs began to write there. Throws when it cannot, or when less than
/// `bytes` are free there.
void prepare_folder(const std::filesystem::path& folder, index_t bytes);
/// Removes what is older than the newest `keep` complete checkpoints. Damaged newer ones stay, for their owner to see.
void keep_newest(const std::filesystem::path& run, index_t keep);

}  // namespace annulus::io
