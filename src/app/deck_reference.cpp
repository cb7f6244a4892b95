/// `annulus deck-reference`: docs/deck.md is its output, and a test compares the two.
#include <fmt/format.h>

#include "app/command.hpp"
#include "app/run_config.hpp"
#include "core/log.hpp"
#include "deck/deck.hpp"
#include "deck/reference.hpp"

namespace annulus::app {

namespace {

constexpr const char* introduction = R"(# The deck

<!-- Written by `annulus deck-reference`; a test compares the two. -->

One TOML file describes a run: blocks, such as `[model]`, with keys. `annulus check DECK` says whether it can be used
and prints every violation at once, each with its place and what would be right; `annulus check DECK --resolved` prints
every key with its value and the place that the value came from.

- A key that is left out has its default. An unknown key, a wrong type and a value out of range are refused.
- A key that has no effect under the deck's other settings is refused, naming the other key.
- A key or value whose feature is not built yet is known by name and refused.
- `--set block.key=value`, repeatable, replaces a value; what is no TOML is read as a string (`--set run.name=second`).
- When a run is resumed, its checkpoint's values come first, the deck's replace them, and `--set` replaces both.
- Files are relative to the directory that the program is started in.
)";

class DeckReference final : public Command {
  const char* name() const override { return "deck-reference"; }
  const char* summary() const override { return "print the manual page of all deck keys, as Markdown"; }
  void declare(Options& options) override { options.footer("Example:\n  annulus deck-reference > docs/deck.md"); }
  Exit run(const Seams&) override {
    RunConfig config;
    deck::Deck deck;
    describe(config, deck);
    const std::string page = introduction + deck::reference(deck);
    log::say(page.substr(0, page.size() - 1));
    return Exit::done;
  }
};

}  // namespace

std::unique_ptr<Command> deck_reference_command() { return std::make_unique<DeckReference>(); }

}  // namespace annulus::app
