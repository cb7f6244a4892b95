/// A run's state in one HDF5 file of full-shape tensors that any mesh can read: docs/checkpoint-format.md.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "model/model.hpp"

namespace annulus::io {

/// Everything of a run besides its tensors.
struct Counters {
  index_t step = 0;    ///< optimizer steps done
  index_t sample = 0;  ///< samples consumed: where the loader goes on
  index_t tokens = 0;  ///< tokens trained on
  std::uint64_t seed = 0;
  double best_validation = 0;  ///< lowest validation loss so far; 0: none yet
};

struct CheckpointInfo {
  Counters counters;
  std::string deck;  ///< resolved, as text
  std::string git;
  std::string data_fingerprint;
  std::string rope_history;  ///< JSON: [{"scaling": "none", "step": 0, "theta": 10000.0}, ...], each from its step on
  std::string tokenizer;     ///< text_of() its record (io/tokenizer_record.hpp); empty: not known
  std::string compute_type;
  index_t format_version = 0;
  std::vector<std::pair<std::string, std::vector<index_t>>> tensors;  ///< name and shape
};

/// checkpoints/step_000001200.h5 below a run's directory.
std::filesystem::path checkpoint_path(const std::filesystem::path& run, index_t step);

/// Collective over the mesh's world. Written under a temporary name; a file under the final name is complete and on
/// disk. Then all but the newest `keep` are removed. Throws Error(Exit::internal) with the reason when writing fails:
/// the older checkpoints stay.
void write_checkpoint(const std::filesystem::path& run, const model::Model& model, const CheckpointInfo& info,
                      index_t keep, comm::Communicator& world);

/// Without reading the tensors. Throws BadCheckpoint in one sentence, also for a file that is not complete.
CheckpointInfo read_checkpoint_info(const std::filesystem::path& file);

/// Collective: fills model (params, master, m, v) and returns the rest. Throws BadCheckpoint on all ranks alike: not
/// complete, truncated, a hash that does not match (naming the tensor), a missing tensor or another shape; what the
/// model holds then is neither the old nor the new.
CheckpointInfo read_checkpoint(const std::filesystem::path& file, model::Model& model, comm::Communicator& world);

/// Collective: the newest checkpoint of a run that can be read, skipping (and naming, as warnings) damaged ones;
/// nothing when the run has no checkpoint; BadCheckpoint when it has only damaged ones.
std::optional<CheckpointInfo> resume_newest(const std::filesystem::path& run, model::Model& model,
                                            comm::Communicator& world);

}  // namespace annulus::io
