/// `annulus check`: whether a deck, and with --inputs everything it names, can be used.
#include <fmt/format.h>

#include <algorithm>

#include "app/command.hpp"
#include "app/deck_options.hpp"
#include "app/inputs.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace annulus::app {

namespace {

class Check final : public Command {
  const char* name() const override { return "check"; }
  const char* summary() const override { return "say whether a deck can be used, with all that is wrong with it"; }
  void declare(Options& options) override {
    options_.declare(options);
    options.flag("--inputs", inputs_, "read all data that the run would need, and try to write where it would write");
    options.flag("--resolved", resolved_, "print every key with its value and where the value came from");
    options.footer(
        "Changes nothing, and needs neither MPI nor a GPU. Exit code: 0, or 2 when something is wrong.\n\n"
        "Example:\n"
        "  annulus check inputs/quickstart.toml --inputs --set train.steps=20");
  }

  Exit run(const Seams&) override {
    const RunConfig config = options_.config();
    if (resolved_) print_resolved(config);
    if (inputs_)
      if (const auto violations = input_violations(config); !violations.empty())
        throw Refused(violations.size() == 1 ? violations[0]
                                             : fmt::format("{} of the run's inputs cannot be used:\n  {}",
                                                           violations.size(), joined(violations, "\n  ")));
    log::say(fmt::format("{} can be used: {} rank{}, {} steps of {} tokens{}; deck {}", options_.deck,
                         config.mesh_shape().size(), config.mesh_shape().size() == 1 ? "" : "s", config.train.steps,
                         config.tokens_per_step(), inputs_ ? ", all inputs there" : "", config.hash));
    return Exit::done;
  }

  static void print_resolved(const RunConfig& config) {
    std::size_t names = 0, values = 0;
    for (const auto& [name, value, where] : config.resolved) {
      names = std::max(names, name.size());
      values = std::max(values, value.size());
    }
    for (const auto& [name, value, where] : config.resolved)
      log::say(fmt::format("{:<{}}  {:<{}}  {}", name, names, value, values, deck::text_of(where)));
  }

  DeckOptions options_;
  bool inputs_ = false, resolved_ = false;
};

}  // namespace

std::unique_ptr<Command> check_command() { return std::make_unique<Check>(); }

}  // namespace annulus::app
