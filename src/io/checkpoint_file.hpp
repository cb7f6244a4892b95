/// What writing and reading checkpoints share: the names in the file (docs/checkpoint-format.md) and its attributes.
#pragma once
#include <string>
#include <vector>

#include "core/error.hpp"
#include "io/checkpoint.hpp"
#include "io/hdf5.hpp"

namespace annulus::io {

inline constexpr const char* format_name = "annulus checkpoint";
/// Written, and the oldest that is read.
inline constexpr index_t format_version = 1, oldest_format_version = 1;

inline constexpr const char* params_group = "params";
inline constexpr const char* optimizer_group = "optim";
inline constexpr const char* master_group = "optim/master";

/// What one transfer moves at most: small enough for any MPI-IO (sizes above 2 GiB have failed), and for the host
/// memory that it passes through.
inline constexpr index_t slice_bytes = index_t{64} << 20;

/// A group of tensors in the file and the arena that it holds.
struct StoredArena {
  const char* group;
  model::Arena arena;
  Scalar type;
};
/// All groups of a checkpoint. Where the compute type is the state type, params are the master.
std::vector<StoredArena> stored_arenas(Scalar compute_type, Scalar state_type);

/// Writes this rank's part of a tensor and returns its share of the hash. Not collective.
std::uint64_t write_part(hid_t dataset, const model::Model& model, const model::Tensor& tensor,
                         const StoredArena& stored, int rank);

/// Everything but tensors and `complete`.
void write_info(hid_t file, const CheckpointInfo& info);
/// Throws BadCheckpoint for a file that is not complete or not of a known version, h5::Failure for one that HDF5
/// refuses; "it" is the file in both's sentences.
CheckpointInfo read_info(hid_t file);
/// Of the run that wrote the file. Throws BadCheckpoint for a type that this program does not know.
Scalar compute_type_of(const CheckpointInfo& info);
/// What a refused checkpoint is refused with.
BadCheckpoint unusable(const std::filesystem::path& file, const std::string& reason);

}  // namespace annulus::io
