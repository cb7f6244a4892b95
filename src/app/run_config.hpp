/// Everything that a deck says about a run: the rooms' structs, filled, checked against each other, with the place that
/// each value came from.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "comm/keys.hpp"
#include "comm/mesh.hpp"
#include "deck/value.hpp"
#include "eval/keys.hpp"
#include "io/keys.hpp"
#include "model/keys.hpp"
#include "model/model.hpp"
#include "train/keys.hpp"

namespace annulus::deck {
class Deck;
}

namespace annulus::app {

struct RunConfig {
  train::RunKeys run;
  comm::MeshKeys mesh;
  model::ModelKeys model;
  model::RopeKeys rope;
  io::DataKeys data;
  model::AttentionKeys attention;
  train::TrainKeys train;
  train::OptimizerKeys optimizer;
  train::ScheduleKeys schedule;
  model::PrecisionKeys precision;
  model::MemoryKeys memory;
  io::CheckpointKeys checkpoint;
  eval::EvalKeys eval;
  model::OverlapKeys overlap;
  train::DebugKeys debug;

  /// A key as it was resolved.
  struct Resolved {
    std::string name;   ///< "model.layers"
    std::string value;  ///< as TOML
    deck::Where where;
  };
  std::vector<Resolved> resolved;
  std::string text;  ///< the resolved deck: reading it gives the same run
  std::string hash;  ///< of `text`, 16 hexadecimal digits

  comm::MeshShape mesh_shape() const;
  std::filesystem::path directory() const;
  /// Micro-batches of an optimizer step on each dp rank.
  index_t accumulation() const;
  /// Tokens of an optimizer step, over all ranks.
  index_t tokens_per_step() const;
  /// Throws Refused when the data's tokenizer has more ids than model.vocabulary has rows.
  ///   data_vocabulary  what the tokenizer has; 0 where no data are at hand, and model.vocabulary must say it
  model::ModelConfig model_config(index_t data_vocabulary) const;
};

/// Lets every room describe its keys, bound to `config`, and adds the rules between rooms.
void describe(RunConfig& config, deck::Deck& deck);

/// Precedence: checkpoint_deck (a deck's text, or empty) < the deck < sets ("block.key=value"). Throws Refused with all
/// violations at once.
RunConfig load_config(const std::filesystem::path& file, const std::vector<std::string>& sets = {},
                      const std::string& checkpoint_deck = "");
/// The same from a deck's text; `name` is what messages call it.
RunConfig parse_config(const std::string& deck, const std::string& name, const std::vector<std::string>& sets = {},
                       const std::string& checkpoint_deck = "");

/// Throws Refused unless the mesh has as many ranks as the program was started with.
void check_ranks(const RunConfig& config, int size);

}  // namespace annulus::app
