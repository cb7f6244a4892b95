#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "deck/reference.hpp"
#include "deck/settings.hpp"

using namespace annulus;
using namespace annulus::test;

TEST_CASE("deck: the resolved deck gives the same values again, doubles to the bit", "[deck]") {
  const std::vector<std::string> pieces{"a", "\"", "\\", "\n", "\t", "\x7f", "\x01", "#", "=", "'", "\u00e9"};
  std::mt19937_64 random(7);
  for (int n = 0; n < 2000; ++n) {
    // any double in (0, 1): its bits lie between those of the two
    const double rate = std::bit_cast<double>(1 + random() % (std::bit_cast<std::uint64_t>(1.0) - 1));
    std::string title;
    for (auto c = random() % 6; c > 0; --c) title += pieces[random() % pieces.size()];
    const std::string deck = "[model]\nrate = " + deck::toml_text(rate) + "\n[form]\ntitle = " + deck::toml_text(title);
    const Resolved first = resolve(deck), second = resolve(first.text);
    CAPTURE(deck);
    REQUIRE(std::bit_cast<std::uint64_t>(first.settings.rate) == std::bit_cast<std::uint64_t>(rate));
    REQUIRE(first.settings.title == title);
    REQUIRE(second.settings == first.settings);
    REQUIRE(second.text == first.text);
  }
}

TEST_CASE("deck: the resolved deck holds every key in effect, and no other", "[deck]") {
  CHECK(resolve("[form]\nshape = \"square\"").text ==
        "[model]\nlayers = 2\nrate = 0.001\ntied = true\n\n"
        "[form]\nshape = \"square\"\ncorners = 0\ntitle = \"untitled\"\nat = []\n");
  CHECK(resolve("[form]\ntitle = \"\"").text ==
        "[model]\nlayers = 2\nrate = 0.001\ntied = true\n\n[form]\nshape = \"round\"\ntitle = \"\"\n");
}

TEST_CASE("deck: a float never reads back as an integer", "[deck]") {
  for (const double value : {0.0, -3.0, 1e15, 1e16, 1e300, 5e-324, 0.1, -1e-7}) {
    const std::string text = deck::toml_text(value);
    const deck::Layer layer = deck::read_toml("[a]\nx = " + text, "");
    CAPTURE(text);
    REQUIRE(layer.given.size() == 1);
    CHECK(layer.given[0].value == deck::Value(value));
  }
}

TEST_CASE("deck: thousands of damaged decks are read or refused, and never more than that", "[deck]") {
  const std::string whole =
      "[model]\nlayers = 3\nrate = 2.5e-1 # comment\ntied = false\n\n"
      "[form]\nshape = \"square\"\ncorners = 0x2\ntitle = 'plain'\nat = [1, 2,\n 3]\n";
  REQUIRE(refusal(whole) == "");
  std::mt19937 random(11);
  const std::string bytes = "[]=\"'#.,{}\n\t -+_09azeE\\:TZ\x00\x7f\x80\xc3\xff";
  int read = 0, refused = 0;
  for (int n = 0; n < 5000; ++n) {
    std::string damaged = whole;
    for (int m = 1 + random() % 4; m > 0; --m) {
      const std::size_t at = random() % damaged.size(), length = 1 + random() % 8;
      switch (random() % 4) {
        case 0:
          damaged[at] = bytes[random() % bytes.size()];
          break;
        case 1:
          damaged.insert(at, 1, bytes[random() % bytes.size()]);
          break;
        case 2:
          damaged.erase(at, length);
          break;
        default:
          damaged.insert(at, damaged.substr(random() % damaged.size(), length));
          break;
      }
      if (damaged.empty()) damaged = "x";
    }
    // what is refused says why; what is read gives the same again
    try {
      const Resolved resolved = resolve(damaged);
      CAPTURE(damaged);
      REQUIRE(resolve(resolved.text).settings == resolved.settings);
      ++read;
    } catch (const Refused& error) {
      REQUIRE(std::string(error.what()).size() > 10);
      ++refused;
    }
  }
  CHECK(read > 100);
  CHECK(refused > 1000);
}

TEST_CASE("deck: the reference names every key with its range, default and condition", "[deck]") {
  Settings settings;
  deck::Deck deck;
  settings.describe(deck);
  const std::string page = deck::reference(deck);
  for (const char* line :
       {"## [model]\n\nThe model.\n",
        "| `layers` | integer: at least 1 and at most 64 | `2` | how many [layers]. Not built yet: `> 32` (deep "
        "models) |",
        "| `rate` | number: above 0 and below 1 | `0.001` | how fast |", "- `colour`: painting\n",
        "| `corners` | integer: at least 0 | `0` | how many. Only where `form.shape` is \"square\" |",
        "Only where `form.title` is given |"})
    CHECK(page.find(line) != std::string::npos);
}
