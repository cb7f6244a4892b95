#include <fmt/format.h>

#include <algorithm>

#include "core/profile.hpp"
#include "core/text.hpp"
#include "io/agreement.hpp"
#include "io/checkpoint_file.hpp"
#include "io/tensor_hash.hpp"
#include "io/tensor_slices.hpp"

namespace annulus::io {

namespace {

std::string shape_text(const std::vector<index_t>& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

/// Refuses a file whose tensors are not the model's.
void compare(const CheckpointInfo& info, const model::ParameterTable& table) {
  for (const model::Tensor& tensor : table.tensors()) {
    const auto found = std::find_if(info.tensors.begin(), info.tensors.end(),
                                    [&](const auto& stored) { return stored.first == tensor.name; });
    if (found == info.tensors.end())
      throw BadCheckpoint(text("it has no tensor ", tensor.name, ", which the model has"));
    if (found->second != tensor.shape)
      throw BadCheckpoint(text("its tensor ", tensor.name, " has the shape ", shape_text(found->second),
                               ", the model's ", shape_text(tensor.shape)));
  }
  for (const auto& [name, shape] : info.tensors) {
    const auto is_it = [&name = name](const model::Tensor& tensor) { return tensor.name == name; };
    if (std::none_of(table.tensors().begin(), table.tensors().end(), is_it))
      throw BadCheckpoint(text("it has a tensor ", name, ", which the model does not have"));
  }
}

/// A tensor of the file, open, and what it should be.
struct Stored {
  std::string path;
  h5::Handle dataset;
  Scalar type;
};

Stored open_tensor(hid_t file, const StoredArena& arena, const model::Tensor& tensor) {
  const std::string path = text(arena.group, "/", tensor.name);
  if (!h5::exists(file, arena.group) || !h5::exists(file, path)) throw BadCheckpoint("it has no tensor " + path);
  Stored stored{path, h5::open_dataset(file, path), arena.type};
  if (const Scalar type = h5::type_of(stored.dataset); type != arena.type)
    throw BadCheckpoint(text("its ", path, " is ", name_of(type), ", this run's is ", name_of(arena.type)));
  if (h5::shape_of(stored.dataset) != tensor.shape) throw BadCheckpoint(text("its ", path, " has another shape"));
  return stored;
}

/// Reads this rank's part of a tensor into the model and returns its share of the hash.
std::uint64_t read_part(const Stored& stored, const StoredArena& arena, const model::Tensor& tensor,
                        model::Model& model, int rank) {
  const auto mine =
      slices(tensor.shape, owned_part(model.parameters(), tensor, rank), slice_bytes / size_of(arena.type));
  std::vector<std::byte> values;
  std::uint64_t hash = 0;
  for (const Slice& slice : mine) {
    values.resize(slice.count * size_of(arena.type));
    h5::read(stored.dataset, arena.type, slice.block, values.data());
    hash += hash_of(values, arena.type, slice.first);
    // The compute copy is formed from the master, which every mesh has in shards; its own values are only checked.
    if (arena.arena != model::Arena::compute)
      model.write(arena.arena, {tensor.offset + slice.first, slice.count}, values);
  }
  return hash;
}

/// What a rank found, before the ranks have met.
struct Reading {
  CheckpointInfo info;
  struct Hash {
    std::string tensor;
    std::uint64_t stored;
  };
  std::vector<Hash> hashes;
  std::vector<std::uint64_t> shares;  ///< this rank's, of each hash
};

/// Nothing in here is collective: each rank opens the file by itself, so that one that cannot leaves none waiting.
Reading read_file(const std::filesystem::path& path, model::Model& model, int rank) {
  const h5::Handle file = h5::open_file(path);
  Reading reading{.info = read_info(file), .hashes = {}, .shares = {}};
  compare(reading.info, model.parameters());
  for (const StoredArena& arena : stored_arenas(compute_type_of(reading.info), model.state_type()))
    for (const model::Tensor& tensor : model.parameters().tensors()) {
      const Stored stored = open_tensor(file, arena, tensor);
      reading.hashes.push_back({stored.path, h5::attribute<std::uint64_t>(stored.dataset, "hash")});
      reading.shares.push_back(read_part(stored, arena, tensor, model, rank));
    }
  return reading;
}

}  // namespace

CheckpointInfo read_checkpoint_info(const std::filesystem::path& file) {
  try {
    return read_info(h5::open_file(file));
  } catch (const std::runtime_error& reason) {
    throw unusable(file, reason.what());
  }
}

CheckpointInfo read_checkpoint(const std::filesystem::path& file, model::Model& model, comm::Communicator& world) {
  const Region region("annulus::io::read_checkpoint");
  Agreement agreement(world);
  Reading reading;
  agreement.attempt([&] { reading = read_file(file, model, world.rank()); });
  if (const std::string failure = agreement.failure(); !failure.empty()) throw unusable(file, failure);
  const auto found = agreement.sums(reading.shares);
  for (std::size_t t = 0; t < found.size(); ++t)
    if (reading.hashes[t].stored != found[t])
      throw unusable(file, text("its ", reading.hashes[t].tensor, " does not have the hash that was stored with it"));
  model.refresh_compute();
  return reading.info;
}

}  // namespace annulus::io
