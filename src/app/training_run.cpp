#include "app/training_run.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "app/parallel_run.hpp"
#include "app/start_block.hpp"
#include "app/version.hpp"
#include "core/device_memory.hpp"
#include "core/log.hpp"
#include "io/token_shards.hpp"
#include "train/trainer.hpp"

namespace annulus::app {

namespace {

/// `so_far` (a checkpoint's, empty at the beginning), and what holds from `step` on where that is something else.
std::string rope_history(const std::string& so_far, index_t step, const model::RopeKeys& rope) {
  auto history = so_far.empty() ? nlohmann::json::array() : nlohmann::json::parse(so_far);
  const nlohmann::json now = {{"step", step}, {"theta", rope.theta}, {"scaling", rope.scaling}};
  const auto same = [&](const char* key) { return history.back().at(key) == now.at(key); };
  if (history.empty() || !same("theta") || !same("scaling")) history.push_back(now);
  return history.dump();
}

/// The run's directory and the resolved deck in it. Rank 0 writes; all ranks fail where it cannot.
void store_deck(const RunConfig& config, const io::RunDirectory& run, const comm::Mesh& mesh) {
  index_t failed = 0;
  if (mesh.rank() == 0) {
    std::error_code error;
    std::filesystem::create_directories(run.checkpoints(), error);
    std::ofstream file(run.deck());
    file << config.text;
    file.close();
    failed = !file;
  }
  if (comm::agree(mesh.world(), failed, comm::Reduction::max) > 0)
    throw Refused(text("the run's directory ", run.root.string(), " cannot be written; choose another run.directory"));
}

/// On a GPU: what the plan says beside what is in use now that everything has been allocated.
void say_device_memory(const model::MemoryPlan& plan) {
  const auto device = device_memory();
  if (!device) return;
  const index_t libraries = plan.bytes(model::Lifetime::library);
  log::say(text("device memory  ", bytes_text(device->used), " of ", bytes_text(device->total),
                " in use by all; planned ", bytes_text(plan.total()), " and ", bytes_text(libraries),
                " of libraries; unplanned ", device->used - plan.total() - libraries, " bytes"));
}

}  // namespace

Exit training_run(const RunConfig& config, const Seams& seams, const Beginning& beginning) {
  return in_parallel([&](ParallelRun& parallel) {
    check_ranks(config, parallel.ranks());
    Assembly parts(config, parallel.world(), parallel.streams(), seams);
    const auto begun = beginning(parts);
    const io::RunDirectory run{config.directory()};
    store_deck(config, run, parts.mesh());
    log::say(start_block(config, parts));
    train::Trainer trainer(
        {.train = config.train,
         .optimizer = config.optimizer,
         .schedule = config.schedule,
         .checkpoint = config.checkpoint,
         .eval = config.eval,
         .wall_minutes = config.run.wall_minutes,
         .accumulation = config.accumulation(),
         .run = run,
         .origin = {.counters = begun.counters,
                    .deck = config.text,
                    .git = git_version,
                    .data_fingerprint = parts.training().fingerprint(),
                    .rope_history = rope_history(begun.rope_history, begun.counters.step, config.rope),
                    .tokenizer = io::text_of(io::TokenStream(config.data.train, "train").tokenizer()),
                    .compute_type = std::string(name_of(parts.model().compute_type())),
                    .format_version = 0,
                    .tensors = {}}},
        parts.feed(), parts.validation());
    const Exit exit = trainer.run();
    say_device_memory(parts.model().plan());
    return exit;
  });
}

}  // namespace annulus::app
