#include "io/checkpoint_file.hpp"

#include <fmt/format.h>

#include "io/hash.hpp"

namespace annulus::io {

namespace {

std::string hash_of_text(const std::string& text) {
  ByteHash hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.text();
}

}  // namespace

std::vector<StoredArena> stored_arenas(Scalar compute_type, Scalar state_type) {
  using model::Arena;
  std::vector<StoredArena> arenas{{"optim/m", Arena::m, state_type}, {"optim/v", Arena::v, state_type}};
  if (compute_type == state_type) {
    arenas.insert(arenas.begin(), {params_group, Arena::master, state_type});
  } else {
    arenas.insert(arenas.begin(), {params_group, Arena::compute, compute_type});
    arenas.push_back({master_group, Arena::master, state_type});
  }
  return arenas;
}

void write_info(hid_t file, const CheckpointInfo& info) {
  h5::write_attribute(file, "format", std::string(format_name));
  h5::write_attribute(file, "format_version", format_version);

  const h5::Handle run = h5::create_group(file, "run");
  h5::write_attribute(run, "deck", info.deck);
  h5::write_attribute(run, "deck_hash", hash_of_text(info.deck));  // HDF5 keeps long texts outside its checksums
  h5::write_attribute(run, "git", info.git);
  h5::write_attribute(run, "data_fingerprint", info.data_fingerprint);
  h5::write_attribute(run, "rope_history", info.rope_history);
  h5::write_attribute(run, "tokenizer", info.tokenizer);
  h5::write_attribute(run, "compute_type", info.compute_type);

  const h5::Handle counters = h5::create_group(file, "counters");
  h5::write_attribute(counters, "step", info.counters.step);
  h5::write_attribute(counters, "sample", info.counters.sample);
  h5::write_attribute(counters, "tokens", info.counters.tokens);
  h5::write_attribute(counters, "seed", info.counters.seed);
  h5::write_attribute(counters, "best_validation", info.counters.best_validation);
}

CheckpointInfo read_info(hid_t file) {
  if (!h5::has_attribute(file, "format") || h5::attribute<std::string>(file, "format") != format_name)
    throw BadCheckpoint("it is an HDF5 file, but no checkpoint of Annulus");
  CheckpointInfo info;
  info.format_version = h5::attribute<index_t>(file, "format_version");
  if (info.format_version < oldest_format_version || info.format_version > format_version)
    throw BadCheckpoint(fmt::format("it has format version {}; this program reads {} to {}", info.format_version,
                                    oldest_format_version, format_version));
  if (!h5::has_attribute(file, "complete") || h5::attribute<index_t>(file, "complete") != 1)
    throw BadCheckpoint("it is not complete: it was not written to its end");

  const h5::Handle run = h5::open_group(file, "run");
  info.deck = h5::attribute<std::string>(run, "deck");
  if (h5::attribute<std::string>(run, "deck_hash") != hash_of_text(info.deck))
    throw BadCheckpoint("its deck does not have the hash that was stored with it");
  info.git = h5::attribute<std::string>(run, "git");
  info.data_fingerprint = h5::attribute<std::string>(run, "data_fingerprint");
  info.rope_history = h5::attribute<std::string>(run, "rope_history");
  info.tokenizer = h5::attribute<std::string>(run, "tokenizer");
  info.compute_type = h5::attribute<std::string>(run, "compute_type");

  const h5::Handle counters = h5::open_group(file, "counters");
  info.counters = {.step = h5::attribute<index_t>(counters, "step"),
                   .sample = h5::attribute<index_t>(counters, "sample"),
                   .tokens = h5::attribute<index_t>(counters, "tokens"),
                   .seed = h5::attribute<std::uint64_t>(counters, "seed"),
                   .best_validation = h5::attribute<double>(counters, "best_validation")};

  const h5::Handle params = h5::open_group(file, params_group);
  for (const auto& name : h5::members(params))
    info.tensors.emplace_back(name, h5::shape_of(h5::open_dataset(params, name)));
  return info;
}

Scalar compute_type_of(const CheckpointInfo& info) {
  for (const Scalar type : {Scalar::bf16, Scalar::fp32, Scalar::fp64})
    if (info.compute_type == name_of(type)) return type;
  throw BadCheckpoint(
      fmt::format("it was computed in \"{}\", a type that this program does not know", info.compute_type));
}

BadCheckpoint unusable(const std::filesystem::path& file, const std::string& reason) {
  return BadCheckpoint(fmt::format("checkpoint {} cannot be used: {}", file.string(), reason));
}

}  // namespace annulus::io
