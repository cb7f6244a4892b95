/// The arguments of every command that starts from a deck.
#pragma once
#include <string>
#include <vector>

#include "app/options.hpp"
#include "app/run_config.hpp"

namespace annulus::app {

struct DeckOptions {
  std::string deck;
  std::vector<std::string> sets;

  void declare(Options& options) {
    options.add("DECK", deck, "the run's deck: a TOML file, such as inputs/quickstart.toml").required();
    options.add("--set", sets, "block.key=value replaces what the deck says; may be repeated")
        .one_at_a_time("KEY=VALUE");
  }
  RunConfig config() const { return load_config(deck, sets); }
};

}  // namespace annulus::app
