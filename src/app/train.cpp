#include "app/training_run.hpp"

namespace annulus::app {

namespace {

class Train final : public Command {
  const char* name() const override { return "train"; }
  const char* summary() const override { return "begin the run that a deck describes"; }

  void declare(Options& options) override {
    deck_.declare(options);
    options.footer(
        "Start it with as many ranks as the deck's mesh has. The run gets a directory of its own, "
        "run.directory/run.name, with\n"
        "metrics.csv, events.jsonl, run.json and checkpoints/. SIGTERM, SIGUSR1, run.wall_minutes or a file named stop "
        "in that\n"
        "directory (empty, or holding a number of steps) stop it after a step with a checkpoint and exit code 85; "
        "`annulus\n"
        "resume` goes on.\n\n"
        "Example:\n  mpiexec -n 2 annulus train inputs/quickstart.toml --set train.steps=50");
  }

  Exit run(const Seams& seams) override {
    const RunConfig config = deck_.config();
    return training_run(config, seams, [&](Assembly& parts) {
      begin_directory(config, parts.mesh());
      parts.model().initialise(config.run.seed);
      io::CheckpointInfo begun;
      begun.counters.seed = static_cast<std::uint64_t>(config.run.seed);
      return begun;
    });
  }

  /// A run's directory has one owner: a second run of the same name would remove the first one's checkpoints.
  static void begin_directory(const RunConfig& config, const comm::Mesh& mesh) {
    const io::RunDirectory run{config.directory()};
    const bool exists = std::filesystem::exists(run.state()) || std::filesystem::exists(run.checkpoints());
    if (comm::agree(mesh.world(), index_t(exists), comm::Reduction::max) > 0)
      throw Refused(text("the run ", run.root.string(),
                         " exists: go on with it by `annulus resume`, or choose another run.name"));
  }

  DeckOptions deck_;
};

}  // namespace

std::unique_ptr<Command> train_command() { return std::make_unique<Train>(); }

}  // namespace annulus::app
