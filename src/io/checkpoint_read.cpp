#include <fmt/format.h>

#include <algorithm>

#include "core/profile.hpp"
#include "core/text.hpp"
#include "io/agreement.hpp"
#include "io/checkpoint_file.hpp"
#include "io/mpi_ranks.hpp"
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
std::uint64_t read_tensor(const Stored& stored, const StoredArena& arena, const model::Tensor& tensor,
                          model::Model& model, comm::Communicator& world, Agreement& agreement) {
  const model::ParameterTable& table = model.parameters();
  const index_t most = slice_bytes / size_of(arena.type);
  const auto mine = slices(tensor.shape, owned_part(table, tensor, world.rank()), most);
  std::vector<std::byte> values;
  std::uint64_t hash = 0;
  for (index_t call = 0; call < calls_for(table, tensor, most); ++call) {
    const bool takes_part = call < index_t(mine.size());
    values.assign(takes_part ? mine[call].count * size_of(arena.type) : 0, std::byte{});
    agreement.attempt([&] {
      h5::read(stored.dataset, arena.type, takes_part ? mine[call].block : h5::Block{}, values.data(),
               world.size() > 1);
    });
    if (!takes_part) continue;
    hash += hash_of(values, arena.type, mine[call].first);
    // The compute copy is formed from the master, which every mesh has in shards; its own values are only checked.
    if (arena.arena != model::Arena::compute)
      model.write(arena.arena, {tensor.offset + mine[call].first, mine[call].count}, values);
  }
  return hash;
}

void read_tensors(hid_t file, model::Model& model, Scalar compute_type, comm::Communicator& world,
                  Agreement& agreement) {
  std::vector<Stored> tensors;
  std::vector<std::uint64_t> hashes;
  for (const StoredArena& arena : stored_arenas(compute_type, model.state_type()))
    for (const model::Tensor& tensor : model.parameters().tensors()) {
      tensors.push_back(open_tensor(file, arena, tensor));
      hashes.push_back(read_tensor(tensors.back(), arena, tensor, model, world, agreement));
    }
  if (const std::string failure = agreement.failure(); !failure.empty()) throw BadCheckpoint(failure);
  hashes = agreement.sums(hashes);
  for (std::size_t t = 0; t < tensors.size(); ++t)
    if (h5::attribute<std::uint64_t>(tensors[t].dataset, "hash") != hashes[t])
      throw BadCheckpoint(text("its ", tensors[t].path, " does not have the hash that was stored with it"));
}

CheckpointInfo read_file(const std::filesystem::path& path, model::Model& model, comm::Communicator& world,
                         Agreement& agreement) {
  const MpiRanks ranks(world);
  const h5::Handle file = h5::open_file(path, ranks.handle());
  const CheckpointInfo info = read_info(file);
  compare(info, model.parameters());
  read_tensors(file, model, compute_type_of(info), world, agreement);
  return info;
}

}  // namespace

CheckpointInfo read_checkpoint_info(const std::filesystem::path& file) {
  try {
    return read_info(h5::open_file(file, MPI_COMM_NULL));
  } catch (const std::runtime_error& reason) {
    throw unusable(file, reason.what());
  }
}

CheckpointInfo read_checkpoint(const std::filesystem::path& file, model::Model& model, comm::Communicator& world) {
  const Region region("annulus::io::read_checkpoint");
  Agreement agreement(world);
  CheckpointInfo info;
  agreement.attempt([&] { info = read_file(file, model, world, agreement); });
  if (const std::string failure = agreement.failure(); !failure.empty()) throw unusable(file, failure);
  model.refresh_compute();
  return info;
}

}  // namespace annulus::io
