/// The arguments of every command that starts from a deck.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "app/run_config.hpp"

namespace annulus::app {

struct DeckOptions {
  std::string deck;
  std::vector<std::string> sets;

  void declare(CLI::App& cli) {
    cli.add_option("DECK", deck, "the run's deck: a TOML file, such as inputs/quickstart.toml")->required();
    cli.add_option("--set", sets, "block.key=value replaces what the deck says; may be repeated")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
  }
  RunConfig config() const { return load_config(deck, sets); }
};

}  // namespace annulus::app
