/// `annulus plan`: the very table of buffers that a run allocates, without allocating.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/command.hpp"
#include "app/deck_options.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "cp/sequence_layout.hpp"
#include "io/token_shards.hpp"

namespace annulus::app {

namespace {

using model::Lifetime;

/// What the deck says, or else the data's tokenizer.
index_t vocabulary_of(const RunConfig& config) {
  if (config.model.vocabulary > 0) return config.model.vocabulary;
  try {
    return io::TokenStream(config.data.train, "train").vocabulary();
  } catch (const Refused& error) {
    throw Refused(text(error.what(), "; to plan without data, set model.vocabulary"));
  }
}

class Plan final : public Command {
  const char* name() const override { return "plan"; }
  const char* summary() const override { return "print what a run would allocate on a rank, buffer by buffer"; }
  void declare(Options& options) override {
    options_.declare(options);
    options.flag("--json", json_, "print the table as JSON");
    options.footer(
        "The rank planned for is the one that needs the most. Nothing is allocated; neither MPI nor a GPU is needed. "
        "Other\n"
        "meshes and shapes are tried with --set.\n\n"
        "Example:\n"
        "  annulus plan inputs/llama-114m.toml --set mesh.ring=8 --set data.sequence_length=65536");
  }

  Exit run(const Seams&) override {
    const RunConfig config = options_.config();
    const comm::MeshShape mesh = config.mesh_shape();
    const model::ModelConfig model = config.model_config(vocabulary_of(config));
    const auto layout = cp::SequenceLayout::named(config.attention.layout, config.data.sequence_length, mesh.ring);
    const model::MemoryPlan plan = model::memory_plan(model, mesh, layout);
    const index_t parameters = model::parameter_table(model, mesh.size()).count();
    if (json_) {
      log::say(json_of(plan, parameters, mesh).dump(2));
    } else {
      const std::string table = plan.table();
      log::say(fmt::format("{}\nparameters {} ({}), mesh {} x {} x {}, {} of {} tokens on this rank",
                           table.substr(0, table.find_last_not_of('\n') + 1), parameters,
                           count_text(double(parameters)), mesh.dp, mesh.ring, mesh.ulysses, layout.max_count(),
                           layout.length()));
    }
    return Exit::done;
  }

  static nlohmann::ordered_json json_of(const model::MemoryPlan& plan, index_t parameters, comm::MeshShape mesh) {
    constexpr const char* names[] = {"persistent", "saved", "scratch", "pinned", "library"};
    nlohmann::ordered_json json;
    json["parameters"] = parameters;
    json["mesh"] = {{"dp", mesh.dp}, {"ring", mesh.ring}, {"ulysses", mesh.ulysses}};
    for (const Lifetime lifetime : model::allocated_lifetimes)
      if (plan.bytes(lifetime) > 0)
        json["allocations"].push_back({{"label", model::MemoryPlan::label(lifetime)}, {"bytes", plan.bytes(lifetime)}});
    json["total"] = plan.total();
    json["libraries"] = plan.bytes(Lifetime::library);
    for (const auto& row : plan.rows())
      json["rows"].push_back({{"name", row.name},
                              {"lifetime", names[static_cast<int>(row.lifetime)]},
                              {"offset", row.offset},
                              {"bytes", row.bytes},
                              {"until", row.until}});
    return json;
  }

  DeckOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> plan_command() { return std::make_unique<Plan>(); }

}  // namespace annulus::app
