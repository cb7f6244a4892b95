#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>

#include "app/run_config.hpp"
#include "core/error.hpp"
#include "deck/deck.hpp"

using namespace annulus;
using app::RunConfig;

namespace {

/// A deck under which every key has an effect, so that any change to it is seen.
const std::string all_in_effect = R"(
[mesh]
ring = 2
[data]
train = "t"
validation = "v"
pack = "documents"
[schedule]
shape = "wsd"
decay_steps = 10
[train]
steps = 100
[model]
kv_heads = 2
)";

/// Values of the key's type other than the one it has; some are out of its range.
std::vector<std::string> other_values(const deck::Key& key) {
  std::vector<std::string> values;
  if (key.type() == "boolean") return {"true", "false"};
  if (key.type() == "list of integers") return {"[1, 2]"};
  if (key.type() == "integer") values = {"0", "1", "2", "3", "4", "64", "2048", "1000000"};
  if (key.type() == "number") values = {"0.0", "0.25", "0.5", "100.0"};
  if (key.type() == "string")
    for (const auto& value : key.values()) values.push_back(deck::toml_text(value));
  if (key.type() == "string" && values.empty()) values = {"\"another\""};
  return values;
}

/// The keys, bound to a configuration of their own.
struct Described {
  RunConfig config;
  deck::Deck deck;
  Described() { describe(config, deck); }
};

/// Every field that a key can reach, as text.
std::map<std::string, std::string> fields(const RunConfig& config) {
  std::map<std::string, std::string> values;
  for (const auto& [name, value, where] : config.resolved) values[name] = value;
  return values;
}

/// Whether a deck with this one key changed gives a run; checks that nothing but the key differs then.
bool changes_alone(const std::string& deck, const std::string& key, const std::string& value) {
  const RunConfig before = app::parse_config(deck, "base.toml");
  auto expected = fields(before);
  if (expected.at(key) == value) return false;
  try {
    const RunConfig after = app::parse_config(deck, "base.toml", {key + "=" + value});
    expected[key] = value;
    CHECK(fields(after) == expected);
    CHECK(after.hash != before.hash);
    CHECK(after.text != before.text);
    return true;
  } catch (const Refused& error) {
    CHECK(std::string(error.what()).find(key) != std::string::npos);
    return false;
  }
}

}  // namespace

TEST_CASE("keys: one key changes the run and nothing else, or is refused", "[app]") {
  const std::set<std::string> has_one_value{"model.family",  "rope.scaling",     "data.format", "attention.rotator",
                                            "memory.policy", "attention.window", "mesh.ulysses"};
  const Described all;
  for (const deck::Key& key : all.deck.keys()) {
    CAPTURE(key.full_name());
    if (!key.built()) {
      for (const char* value : {"true", "3", "\"word\""})
        CHECK_THROWS_AS(app::parse_config(all_in_effect, "base.toml", {key.full_name() + "=" + value}), Refused);
      continue;
    }
    bool accepted = false;
    for (const std::string& value : other_values(key))
      for (const std::string& deck : {all_in_effect, std::string("data.train = \"t\"")})
        accepted |= changes_alone(deck, key.full_name(), value);
    CHECK(accepted == !has_one_value.contains(key.full_name()));
  }
}

TEST_CASE("keys: each value that is known for later is refused with its feature", "[app]") {
  const Described all;
  int seen = 0;
  for (const deck::Key& key : all.deck.keys())
    for (const auto& [value, feature] : key.later_values()) {
      const std::string given = key.type() == "integer" ? "1000" : deck::toml_text(value);
      try {
        app::parse_config(all_in_effect, "all.toml", {key.full_name() + "=" + given});
        FAIL_CHECK(key.full_name() << " = " << given << " was accepted");
      } catch (const Refused& error) {
        CHECK(std::string(error.what()).find("is not built yet (" + feature + ")") != std::string::npos);
      }
      ++seen;
    }
  CHECK(seen > 10);
}

TEST_CASE("keys: every key and every block has its meaning written down", "[app]") {
  const Described all;
  for (const deck::Key& key : all.deck.keys()) {
    CAPTURE(key.full_name());
    CHECK(key.meaning().size() > 4);
  }
  for (const auto& [name, doc] : all.deck.blocks()) {
    CAPTURE(name);
    CHECK(doc.size() > 10);
  }
}

TEST_CASE("keys: no default breaks a rule", "[app]") {
  const Described all;
  for (const deck::Key& key : all.deck.keys()) {
    CAPTURE(key.full_name());
    if (key.built()) CHECK(key.violation() == "");
  }
}
