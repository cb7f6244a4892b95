/// `annulus check`: whether a deck, and with --inputs everything it names, can be used.
#include <fmt/format.h>

#include <algorithm>

#include "app/command.hpp"
#include "app/deck_options.hpp"
#include "core/log.hpp"

namespace annulus::app {

namespace {

class Check : public Command {
 public:
  const char* name() const override { return "check"; }
  const char* summary() const override { return "say whether a deck can be used, with all that is wrong with it"; }
  void declare(CLI::App& cli) override {
    options_.declare(cli);
    cli.add_flag("--resolved", resolved_, "print every key with its value and where the value came from");
    cli.footer(
        "Example:\n"
        "  annulus check inputs/quickstart.toml --set train.steps=20 --resolved\n"
        "Exit code: 0, or 2 when something is wrong.");
  }

  Exit run(const Seams&) override {
    const RunConfig config = options_.config();
    if (resolved_) print_resolved(config);
    const auto shape = config.mesh_shape();
    log::say(fmt::format("{} can be used: {} rank(s), {} steps of {} tokens, deck {}", options_.deck, shape.size(),
                         config.train.steps, config.tokens_per_step(), config.hash));
    return Exit::done;
  }

 private:
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
  bool resolved_ = false;
};

}  // namespace

std::unique_ptr<Command> check_command() { return std::make_unique<Check>(); }

}  // namespace annulus::app
