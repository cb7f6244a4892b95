#include <fstream>
#include <sstream>

#include "app/inputs.hpp"
#include "app/training_run.hpp"
#include "core/log.hpp"

namespace annulus::app {

namespace {

class Resume final : public Command {
  const char* name() const override { return "resume"; }
  const char* summary() const override { return "go on with a run from its newest complete checkpoint"; }

  void declare(Options& options) override {
    deck_.declare(options);
    options.flag("--other-data", other_data_, "go on although data.train or run.seed is not the checkpoint's");
    options.footer(
        "Any mesh can go on with any mesh's checkpoint; at the same mesh the run is bit for bit what it would have "
        "been without\n"
        "the stop. Settings come from the run's stored deck, then from the deck given, then from --set. Damaged "
        "checkpoints\n"
        "are named and passed over; without a usable one the exit code is 3.\n\n"
        "Example:\n  mpiexec -n 2 annulus resume inputs/quickstart.toml");
  }

  Exit run(const Seams& seams) override {
    // the run's own deck supplies what the given one leaves open; which run that is, the given one says
    const io::RunDirectory found{deck_.config().directory()};
    const RunConfig config = load_config(deck_.deck, deck_.sets, stored_deck(found));
    const io::RunDirectory run{config.directory()};
    return training_run(config, seams, [&](Assembly& parts) {
      const auto info = io::resume_newest(run.root, parts.model(), parts.mesh().world());
      if (!info)
        throw BadCheckpoint(
            text("the run ", run.root.string(), " has no checkpoint to go on from; begin it with `annulus train`"));
      refuse_other_tokenizer(*info, config);
      if (!other_data_) refuse_other_data(*info, parts, config);
      if (info->counters.step >= config.train.steps)
        log::note(text("the run has done its ", config.train.steps, " steps already"));
      return *info;
    });
  }

  /// The sample that a run goes on from counts in an order that the data and the seed determine.
  static void refuse_other_data(const io::CheckpointInfo& info, const Assembly& parts, const RunConfig& config) {
    const char* advice = "; --other-data goes on nevertheless, from the sample of the same number";
    if (const std::string found = parts.training().fingerprint(); found != info.data_fingerprint)
      throw Refused(text("data.train (", config.data.train, ", fingerprint ", found,
                         ") is not what the checkpoint was trained on (fingerprint ", info.data_fingerprint, ")",
                         advice));
    if (const auto seed = static_cast<std::uint64_t>(config.run.seed); seed != info.counters.seed)
      throw Refused(text("run.seed is ", seed, " and the checkpoint's is ", info.counters.seed,
                         ", which is another order of the data", advice));
  }

  static std::string stored_deck(const io::RunDirectory& run) {
    std::ostringstream deck;
    if (std::ifstream file(run.deck()); file) deck << file.rdbuf();
    return deck.str();
  }

  DeckOptions deck_;
  bool other_data_ = false;
};

}  // namespace

std::unique_ptr<Command> resume_command() { return std::make_unique<Resume>(); }

}  // namespace annulus::app
