/// A small program's settings with one key of every kind: what the deck is tested on, without any room.
#pragma once
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "deck/deck.hpp"

namespace annulus::test {

struct Settings {
  index_t layers = 2;
  double rate = 1e-3;
  bool tied = true;
  std::string shape = "round", title = "untitled";
  index_t corners = 0;
  std::vector<index_t> at = {};

  void describe(deck::Deck& deck) {
    deck::Block model = deck.block("model");
    model.doc("The model.");
    model.key("layers", layers).unit("layers").doc("how many").at_least(1).at_most(64).later_above(32, "deep models");
    model.key("rate", rate).doc("how fast").above(0).below(1);
    model.key("tied", tied).doc("or not");
    model.later("colour", "painting");
    deck::Block form = deck.block("form");
    form.key("shape", shape).one_of({"round", "square"}).later("star", "points").doc("its outline");
    form.key("corners", corners).needs("shape", {"square"}).at_least(0).doc("how many");
    form.key("title", title).doc("what it is called");
    form.key("at", at).at_least(1).needs("form.title").doc("steps");
    deck.check({"form.corners", "form.shape", "model.layers"}, [this]() -> std::string {
      return corners <= layers ? "" : text("form.corners = ", corners, " exceeds model.layers = ", layers);
    });
  }

  static std::string text(const char* a, index_t x, const char* b, index_t y) {
    return a + std::to_string(x) + b + std::to_string(y);
  }
  bool operator==(const Settings&) const = default;
};

struct Resolved {
  Settings settings;
  std::string text;                                          ///< the resolved deck
  std::vector<std::pair<std::string, std::string>> origins;  ///< key, place
};

/// Everything that `deck` ("small.toml"), the checkpoint's deck and the --sets give.
inline Resolved resolve(const std::string& text, const std::vector<std::string>& sets = {},
                        const std::string& checkpoint = "") {
  Resolved result;
  deck::Deck deck;
  deck.add(deck::read_toml(checkpoint, "", deck::Origin::checkpoint));
  deck.add(deck::read_toml(text, "small.toml"));
  for (const auto& set : sets) deck.add(deck::read_setting(set));
  result.settings.describe(deck);
  deck.settle();
  result.text = deck.resolved_text();
  for (const auto& key : deck.keys()) result.origins.emplace_back(key.full_name(), deck::text_of(key.where()));
  return result;
}

/// The sentence that refuses; empty when nothing does.
inline std::string refusal(const std::string& text, const std::vector<std::string>& sets = {},
                           const std::string& checkpoint = "") {
  try {
    resolve(text, sets, checkpoint);
  } catch (const Error& error) {
    CHECK(error.code() == Exit::refused);
    return error.what();
  }
  return "";
}

}  // namespace annulus::test
