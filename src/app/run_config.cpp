#include "app/run_config.hpp"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fstream>
#include <iterator>

#include "core/error.hpp"
#include "core/text.hpp"
#include "deck/deck.hpp"

namespace annulus::app {

namespace {

/// Rules between rooms. Each is judged only where the keys it names are right on their own.
void describe_rules(const RunConfig& config, deck::Deck& deck) {
  deck.check({"train.tokens_per_step", "train.micro_batch", "mesh.dp", "data.sequence_length"}, [&]() -> std::string {
    const index_t asked = config.train.tokens_per_step;
    const index_t unit = config.train.micro_batch * config.mesh.dp * config.data.sequence_length;
    if (asked % unit == 0) return "";
    const index_t below = asked / unit * unit;
    return text("train.tokens_per_step = ", asked,
                " is no multiple of micro_batch x dp x sequence_length = ", config.train.micro_batch, " x ",
                config.mesh.dp, " x ", config.data.sequence_length, " = ", unit,
                below > 0 ? text("; the nearest that are: ", below, " and ", below + unit)
                          : text("; the nearest that is: ", unit));
  });
  deck.check({"schedule.warmup", "train.steps"}, [&]() -> std::string {
    if (config.schedule.warmup <= config.train.steps) return "";
    return text("schedule.warmup = ", config.schedule.warmup, " is longer than train.steps = ", config.train.steps);
  });
  deck.check({"schedule.decay_steps", "schedule.shape", "schedule.warmup", "train.steps"}, [&]() -> std::string {
    const auto& [shape, peak, floor, warmup, decay_steps, tail] = config.schedule;
    const index_t most = config.train.steps - warmup;
    if (shape != "wsd" || (decay_steps >= 2 && decay_steps <= most && decay_steps < config.train.steps)) return "";
    return text("schedule.shape = \"wsd\" needs a tail: schedule.decay_steps = ", decay_steps,
                " must be at least 2, below train.steps = ", config.train.steps,
                ", and fit after schedule.warmup = ", warmup);
  });
  for (const char* key : {"mesh.transport", "debug.jitter"})
    deck.check({key, "mesh.dp", "mesh.ring", "mesh.ulysses"}, [&config, key]() -> std::string {
      const bool given = key == std::string("debug.jitter") ? config.debug.jitter > 0 : config.mesh.transport != "auto";
      if (!given || config.mesh_shape().size() > 1) return "";
      return text(key, " is for messages between ranks, and the mesh (dp, ring, ulysses) has one rank");
    });
  deck.check({"eval.at", "train.steps"}, [&]() -> std::string {
    for (const index_t step : config.eval.at)
      if (step > config.train.steps)
        return text("eval.at holds ", step, ", which train.steps = ", config.train.steps, " never reaches");
    return "";
  });
}

std::string file_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!std::filesystem::is_regular_file(file) || !in)
    throw Refused(text("deck ", file.string(), " cannot be opened; name a TOML file, such as inputs/quickstart.toml"));
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

comm::MeshShape RunConfig::mesh_shape() const {
  return {static_cast<int>(mesh.dp), static_cast<int>(mesh.ring), static_cast<int>(mesh.ulysses)};
}

std::filesystem::path RunConfig::directory() const { return std::filesystem::path(run.directory) / run.name; }

index_t RunConfig::accumulation() const {
  return tokens_per_step() / (train.micro_batch * mesh.dp * data.sequence_length);
}

index_t RunConfig::tokens_per_step() const {
  return train.tokens_per_step > 0 ? train.tokens_per_step : train.micro_batch * mesh.dp * data.sequence_length;
}

model::ModelConfig RunConfig::model_config(index_t data_vocabulary) const {
  const index_t rows = model.vocabulary > 0 ? model.vocabulary : data_vocabulary;
  if (rows == 0)
    throw Refused("model.vocabulary must be given where no data are at hand to say how many tokens there are");
  if (rows < data_vocabulary)
    throw Refused(annulus::text("model.vocabulary = ", rows, " is below the ", data_vocabulary,
                                " tokens that the data have; set it to 0 or to at least that"));
  model::ModelConfig made;
  made.model = model;
  made.rope = rope;
  made.attention = attention;
  made.precision = precision;
  made.memory = memory;
  made.overlap = overlap;
  made.vocabulary = rows;
  made.sequence_length = data.sequence_length;
  made.micro_batch = train.micro_batch;
  return made;
}

void describe(RunConfig& config, deck::Deck& deck) {
  const auto add = [&](const char* name, auto& keys) {
    deck::Block block = deck.block(name);
    keys.describe(block);
  };
  add("run", config.run);
  add("mesh", config.mesh);
  add("model", config.model);
  add("rope", config.rope);
  add("data", config.data);
  add("attention", config.attention);
  add("train", config.train);
  add("optimizer", config.optimizer);
  add("schedule", config.schedule);
  add("precision", config.precision);
  add("memory", config.memory);
  add("checkpoint", config.checkpoint);
  add("eval", config.eval);
  add("overlap", config.overlap);
  add("debug", config.debug);
  describe_rules(config, deck);
}

RunConfig parse_config(const std::string& text, const std::string& name, const std::vector<std::string>& sets,
                       const std::string& checkpoint_deck) {
  RunConfig config;
  deck::Deck deck;
  if (!checkpoint_deck.empty()) deck.add(deck::read_toml(checkpoint_deck, name, deck::Origin::checkpoint));
  deck.add(deck::read_toml(text, name));
  for (const auto& assignment : sets) deck.add(deck::read_setting(assignment));
  describe(config, deck);
  deck.settle();

  for (const deck::Key& key : deck.keys())
    if (key.built()) config.resolved.push_back({key.full_name(), toml_text(key.value()), key.where()});
  config.text = deck.resolved_text();
  config.hash = fmt::format("{:016x}", XXH64(config.text.data(), config.text.size(), 0));
  return config;
}

RunConfig load_config(const std::filesystem::path& file, const std::vector<std::string>& sets,
                      const std::string& checkpoint_deck) {
  return parse_config(file_text(file), file.string(), sets, checkpoint_deck);
}

void check_ranks(const RunConfig& config, int size) {
  const comm::MeshShape shape = config.mesh_shape();
  if (shape.size() == size) return;
  throw Refused(text("the deck's mesh has dp x ring x ulysses = ", shape.dp, " x ", shape.ring, " x ", shape.ulysses,
                     " = ", shape.size(), " ranks, but the program was started with ", size,
                     "; start it with mpiexec -n ", shape.size(), ", or set mesh.dp and mesh.ring"));
}

}  // namespace annulus::app
