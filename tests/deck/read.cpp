#include <catch2/generators/catch_generators.hpp>
#include <map>

#include "deck/settings.hpp"

using namespace annulus;
using namespace annulus::test;
using Integers = std::vector<index_t>;

TEST_CASE("deck: values of every type arrive, what is left out keeps its default", "[deck]") {
  const auto [settings, text, origins] = resolve(R"(
# a comment
[model]
layers = 1_0
tied = false
[form]
title = "a \"b\" \\ \u00e9"   # another
at = [1, 200, 3]
)");
  CHECK(settings == Settings{.layers = 10, .tied = false, .title = "a \"b\" \\ \u00e9", .at = {1, 200, 3}});
  CHECK(resolve("").settings == Settings{});
  CHECK(resolve("model.layers = 3").settings.layers == 3);      // dotted
  CHECK(resolve("model = {layers = 3}").settings.layers == 3);  // inline
}

TEST_CASE("deck: a number may be written as an integer, an integer not as a number", "[deck]") {
  Settings settings;
  double size = 0;
  deck::Deck deck;
  deck.add(deck::read_toml("[a]\nsize = 3", "small.toml"));
  deck.block("a").key("size", size);
  deck.settle();
  CHECK(size == 3.0);
  CHECK(refusal("[model]\nlayers = 3.0") ==
        "small.toml:2: model.layers = 3.0 is a number; it must be an integer, at least 1 and at most 64");
}

TEST_CASE("deck: a later layer wins, and each value knows where it came from", "[deck]") {
  const std::string checkpoint = "[model]\nlayers = 3\nrate = 0.25\n[form]\ntitle = \"old\"";
  const auto [settings, text, origins] =
      resolve("[model]\n\nlayers = 4\nrate = 0.5", {"model.layers=5", "model.layers=6"}, checkpoint);
  CHECK(settings == Settings{.layers = 6, .rate = 0.5, .title = "old"});
  const std::map<std::string, std::string> where(origins.begin(), origins.end());
  CHECK(where.at("model.layers") == "--set");
  CHECK(where.at("model.rate") == "small.toml:4");
  CHECK(where.at("form.title") == "checkpoint");
  CHECK(where.at("form.shape") == "default");
}

TEST_CASE("deck: --set takes TOML values, and bare words as strings", "[deck]") {
  CHECK(resolve("", {"form.title=runs/second-try"}).settings.title == "runs/second-try");
  CHECK(resolve("", {"form.title=\"quoted\""}).settings.title == "quoted");
  CHECK(resolve("", {"form.title=a=b.c"}).settings.title == "a=b.c");
  CHECK(resolve("", {"form.title=1-sqrt"}).settings.title == "1-sqrt");
  CHECK(resolve("", {"model.rate=1e-2"}).settings.rate == 1e-2);
  CHECK(resolve("", {"model.tied=false"}).settings.tied == false);
  CHECK(resolve("", {"form.at=[3,4]"}).settings.at == Integers{3, 4});
  CHECK(resolve("[model]\nlayers = 0", {"model.layers=3"}).settings.layers == 3);  // what it replaces is not judged
}

TEST_CASE("deck: --set refuses what it cannot read", "[deck]") {
  for (const char* form : {"layers=3", "model.layers", "=3", ".layers=3", "model.=3", "model=a.b", ""})
    CHECK(refusal("", {form}) == "--set: \"" + std::string(form) + "\" is not of the form block.key=value");
  CHECK(refusal("", {"form.title=\"open"}).find("--set: form.title=\"open: the value is no TOML") == 0);
  CHECK(refusal("", {"form.at=[1"}).find("--set: form.at=[1: the value is no TOML") == 0);
  CHECK(refusal("", {"model.layers="}).find("--set: model.layers=: the value is no TOML") == 0);
  CHECK(refusal("", {"model.layers=3\n[form]\ntitle=\"x\""}).find("the value is no TOML") != std::string::npos);
  CHECK(refusal("", {"form.title=\xff\xfe"}).find("the value is no TOML") != std::string::npos);
  CHECK(refusal("", {"form.title=3"}) == "--set: form.title = 3 is an integer; it must be a string");
}
