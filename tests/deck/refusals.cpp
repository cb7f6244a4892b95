#include <catch2/generators/catch_generators.hpp>

#include "deck/settings.hpp"

using namespace annulus;
using namespace annulus::test;

namespace {

struct Case {
  const char* deck;
  const char* sentence;
};

}  // namespace

TEST_CASE("deck: each refusal says where, what was read, and what would be right", "[deck]") {
  const Case c = GENERATE(values<Case>({
      // names
      {"[modle]\nlayers = 3", "small.toml:1: [modle] is no known block; did you mean [model]?"},
      {"[modle]", "small.toml:1: [modle] is no known block; did you mean [model]?"},
      {"[zebra]\nx = 1", "small.toml:1: [zebra] is no known block; there are [model] [form]"},
      {"[model]\nlayer = 3", "small.toml:2: model.layer is no known key; did you mean model.layers?"},
      {"[model]\ntitle = \"x\"", "small.toml:2: model.title is no known key; did you mean form.title?"},
      {"[form]\nzzzzzzzz = 1", "small.toml:2: form.zzzzzzzz is no known key; [form] has shape, corners, title, at"},
      {"[model.layers]\nx = 1",
       "small.toml:1: model.layers = [model.layers] is a table; it must be an integer, at least 1 and at most 64"},
      {"\nlayers = 3", "small.toml:2: layers stands outside of a block; a deck's keys lie in blocks, such as [run]"},
      {"[[model]]\nlayers = 3",
       "small.toml:1: model stands outside of a block; a deck's keys lie in blocks, such as [run]"},
      // types
      {"[model]\nlayers = \"two\"",
       "small.toml:2: model.layers = \"two\" is a string; it must be an integer, at least 1 and at most 64"},
      {"[model]\ntied = 1", "small.toml:2: model.tied = 1 is an integer; it must be true or false"},
      {"[model]\nrate = 2024-05-06",
       "small.toml:2: model.rate = 2024-05-06 is a date; it must be a number, above 0 and below 1"},
      {"[model]\nrate = 07:32:00",
       "small.toml:2: model.rate = 07:32:00 is a time; it must be a number, above 0 and below 1"},
      {"[model]\nrate = 2024-05-06T07:32:00Z",
       "small.toml:2: model.rate = 2024-05-06T07:32:00Z is a date with a time; it must be a number, above 0 and below "
       "1"},
      {"[form]\nat = [1, 2.5]",
       "small.toml:2: form.at = [1, 2.5] is a list of anything but integers; it must be a list of integers, at least "
       "1"},
      {"[form]\nat = 7", "small.toml:2: form.at = 7 is an integer; it must be a list of integers, at least 1"},
      {"[form]\ntitle = '''\na\nb'''\n[model]\ntied = \"\u00e9\" # umlauts count as one column",
       "small.toml:6: model.tied = \"\u00e9\" is a string; it must be true or false"},
      // ranges
      {"[model]\nlayers = 0", "small.toml:2: model.layers = 0 is out of range; it must be at least 1 and at most 64"},
      {"[model]\nlayers = 65", "small.toml:2: model.layers = 65 is out of range; it must be at least 1 and at most 64"},
      {"[model]\nlayers = 9223372036854775807",
       "small.toml:2: model.layers = 9223372036854775807 is out of range; it must be at least 1 and at most 64"},
      {"[model]\nrate = 0.0", "small.toml:2: model.rate = 0.0 is out of range; it must be above 0 and below 1"},
      {"[model]\nrate = 1", "small.toml:2: model.rate = 1 is out of range; it must be above 0 and below 1"},
      {"[model]\nrate = nan", "small.toml:2: model.rate = nan is out of range; it must be above 0 and below 1"},
      {"[model]\nrate = inf", "small.toml:2: model.rate = inf is out of range; it must be above 0 and below 1"},
      {"[form]\nat = [3, 0]", "small.toml:2: form.at = [3, 0] holds 0, which is out of range; each must be at least 1"},
      {"[form]\nshape = \"squar\"",
       "small.toml:2: form.shape = \"squar\" is unknown; it must be \"round\" or \"square\"; did you mean \"square\"?"},
      {"[form]\nshape = \"\"", "small.toml:2: form.shape = \"\" is unknown; it must be \"round\" or \"square\""},
      // features to come
      {"[model]\ncolour = \"red\"", "small.toml:2: model.colour = \"red\" is not built yet; leave it out"},
      {"[form]\nshape = \"star\"",
       "small.toml:2: form.shape = \"star\" is not built yet (points); it must be \"round\" or \"square\""},
      {"[model]\nlayers = 33", "small.toml:2: model.layers = 33 is not built yet (deep models); it must be at most 32"},
      // no effect
      {"[form]\ncorners = 0",
       "small.toml:2: form.corners = 0 has no effect with form.shape = \"round\"; leave it out, or let form.shape be "
       "\"square\""},
      {"[form]\ntitle = \"\"\nat = [1]",
       "small.toml:3: form.at = [1] has no effect with form.title = \"\"; leave it out, or give form.title"},
      // several keys together
      {"[form]\nshape = \"square\"\ncorners = 3", "small.toml:3: form.corners = 3 exceeds model.layers = 2"},
      // what is no TOML
      {"[model]\nlayers = 3\nlayers = 4", "small.toml:3: is no TOML:"},
      {"[model]\n[model]", "small.toml:2: is no TOML:"},
      {"[model]\nlayers = ", "small.toml:2: is no TOML:"},
      {"[model\nlayers = 3", "small.toml:1: is no TOML:"},
      {"[.model]\nlayers = 3", "small.toml:1: is no TOML:"},
      {"[model]\n\ntitle = \"open\n", "small.toml:3: is no TOML:"},
      {"[model]\nlayers = 99999999999999999999", "small.toml:2: is no TOML:"},
      {"\x01", "small.toml:1: is no TOML:"},
      {"[form]\ntitle = \"\xff\"", "small.toml:2: is no TOML:"},
  }));
  CAPTURE(c.deck);
  const std::string sentence = refusal(c.deck), expected = c.sentence;
  if (expected.ends_with("no TOML:"))
    CHECK(sentence.substr(0, expected.size()) == expected);
  else
    CHECK(sentence == expected);
}

TEST_CASE("deck: a refusal lists all violations, in the order of the deck", "[deck]") {
  CHECK(refusal("[form]\nshape = 3\ncolor = 1\n[model]\nlayers = 0\n", {"model.rate=2", "nonsense"}) ==
        "5 violations:\n"
        "  small.toml:2: form.shape = 3 is an integer; it must be a string, \"round\" or \"square\"\n"
        "  small.toml:3: form.color is no known key; [form] has shape, corners, title, at\n"
        "  small.toml:5: model.layers = 0 is out of range; it must be at least 1 and at most 64\n"
        "  --set: \"nonsense\" is not of the form block.key=value\n"
        "  --set: model.rate = 2 is out of range; it must be above 0 and below 1");
}

TEST_CASE("deck: a violation hides the rules that rest on it", "[deck]") {
  CHECK(refusal("[form]\nshape = \"squarish\"\ncorners = 3") ==
        "small.toml:2: form.shape = \"squarish\" is unknown; it must be \"round\" or \"square\"; did you mean "
        "\"square\"?");
  CHECK(refusal("[form]\nshape = \"square\"\ncorners = 100\n[model]\nlayers = 0") ==
        "small.toml:5: model.layers = 0 is out of range; it must be at least 1 and at most 64");
}

TEST_CASE("deck: a key that must be given is asked for", "[deck]") {
  std::string source;
  deck::Deck deck;
  deck.block("data").key("source", source).required().doc("where the data are");
  CHECK_THROWS_AS(deck.settle(), Refused);
  deck::Deck given;
  given.add(deck::read_toml("data.source = \"here\"", "small.toml"));
  given.block("data").key("source", source).required();
  given.settle();
  CHECK(source == "here");
}

TEST_CASE("deck: what a checkpoint says falls back to its default where the deck leaves it without effect", "[deck]") {
  const std::string checkpoint = "[form]\nshape = \"square\"\ncorners = 2";
  CHECK(resolve("", {}, checkpoint).settings == Settings{.shape = "square", .corners = 2});
  const auto [settings, text, origins] = resolve("[form]\nshape = \"round\"", {}, checkpoint);
  CHECK(settings == Settings{});
  CHECK(text.find("corners") == std::string::npos);
}
