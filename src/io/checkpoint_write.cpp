#include <fmt/format.h>

#include "core/error.hpp"
#include "core/profile.hpp"
#include "io/agreement.hpp"
#include "io/checkpoint_file.hpp"
#include "io/checkpoint_folder.hpp"
#include "io/file.hpp"
#include "io/mpi_ranks.hpp"
#include "io/tensor_hash.hpp"
#include "io/tensor_slices.hpp"

namespace annulus::io {

std::uint64_t write_part(hid_t dataset, const model::Model& model, const model::Tensor& tensor,
                         const StoredArena& stored, int rank) {
  const auto mine =
      slices(tensor.shape, owned_part(model.parameters(), tensor, rank), slice_bytes / size_of(stored.type));
  std::vector<std::byte> values;
  std::uint64_t hash = 0;
  for (const Slice& slice : mine) {
    values.resize(slice.count * size_of(stored.type));
    model.read(stored.arena, {tensor.offset + slice.first, slice.count}, values);
    hash += hash_of(values, stored.type, slice.first);
    h5::write(dataset, stored.type, slice.block, values.data());
  }
  return hash;
}

namespace {

/// Data first, then the hashes, which need every rank's share.
void write_tensors(hid_t file, const model::Model& model, comm::Communicator& world, Agreement& agreement) {
  std::vector<h5::Handle> datasets;
  std::vector<std::uint64_t> hashes;
  h5::create_group(file, optimizer_group);
  for (const StoredArena& stored : stored_arenas(model.compute_type(), model.state_type())) {
    const h5::Handle group = h5::create_group(file, stored.group);
    for (const model::Tensor& tensor : model.parameters().tensors()) {
      datasets.push_back(h5::create_dataset(group, tensor.name, stored.type, tensor.shape));
      hashes.push_back(0);
      agreement.attempt([&] { hashes.back() = write_part(datasets.back(), model, tensor, stored, world.rank()); });
    }
  }
  hashes = agreement.sums(hashes);
  for (std::size_t d = 0; d < datasets.size(); ++d) h5::write_attribute(datasets[d], "hash", hashes[d]);
}

/// `complete` reaches the disk after everything that it speaks of. Only what moves values can fail on one rank alone;
/// what describes the file is the same work on all.
void write_file(const std::filesystem::path& path, const model::Model& model, const CheckpointInfo& info,
                comm::Communicator& world, Agreement& agreement) {
  const MpiRanks ranks(world);
  h5::Handle file = h5::create_file(path, ranks.handle());
  write_info(file, info);
  write_tensors(file, model, world, agreement);
  if (const std::string failure = agreement.failure(); !failure.empty()) {
    // A full disk would fail the closing too, and HDF5 1.10 does not survive that: it frees the file and keeps its id.
    agreement.attempt_on_first([&] { std::filesystem::resize_file(path, 0); });
    agreement.failure();
    throw h5::Failure(failure);
  }
  h5::flush(file);
  h5::write_attribute(file, "complete", index_t{1});
  file.close("close " + path.string());
}

/// Bytes of all tensors.
index_t bytes_of(const model::Model& model) {
  index_t per_element = 0;
  for (const StoredArena& stored : stored_arenas(model.compute_type(), model.state_type()))
    per_element += size_of(stored.type);
  return per_element * model.parameters().count();
}

}  // namespace

void write_checkpoint(const std::filesystem::path& run, const model::Model& model, const CheckpointInfo& info,
                      index_t keep, comm::Communicator& world) {
  const Region region("annulus::io::write_checkpoint");
  Agreement agreement(world);
  CheckpointInfo stored = info;
  stored.compute_type = name_of(model.compute_type());
  const auto path = checkpoint_path(run, info.counters.step);
  const auto partial = partial_path(path);
  const auto meet = [&](const char* doing) {
    const std::string failure = agreement.failure();
    if (failure.empty()) return;
    if (world.rank() == 0) {
      std::error_code ignored;
      std::filesystem::remove(partial, ignored);
    }
    world.barrier();  // on all ranks it is gone
    throw Error(Exit::internal, fmt::format("{} checkpoint {} failed: {}", doing, path.string(), failure));
  };

  agreement.attempt_on_first([&] { prepare_folder(path.parent_path(), bytes_of(model)); });
  meet("preparing");
  agreement.attempt([&] { write_file(partial, model, stored, world, agreement); });
  meet("writing");
  agreement.attempt_on_first([&] {
    publish(partial, path);
    keep_newest(run, keep);
  });
  meet("finishing");
}

}  // namespace annulus::io
