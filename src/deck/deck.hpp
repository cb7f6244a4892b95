/// A run's settings: layers of TOML (a checkpoint's deck < the deck < --set) against the keys that the rooms describe.
/// Knows nothing of any room. Use: add the layers, let every room describe its blocks, settle().
#pragma once
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "deck/key.hpp"
#include "deck/toml.hpp"

namespace annulus::deck {

class Deck;

/// A named group of keys that a room describes: [model].
class Block {
 public:
  Block(Deck& deck, std::string name) : deck_(deck), name_(std::move(name)) {}

  /// What the block is about, for the reference.
  void doc(const std::string& sentence);
  /// A key whose value goes to `target`, which holds the default and outlives the deck.
  Key& key(const std::string& name, bool& target);
  Key& key(const std::string& name, index_t& target);
  Key& key(const std::string& name, double& target);
  Key& key(const std::string& name, std::string& target);
  Key& key(const std::string& name, std::vector<index_t>& target);
  /// A key that is known by name and refused: its feature is not built yet.
  void later(const std::string& name, const std::string& feature);
  /// A rule over several keys of this block: see Deck::check.
  void check(const std::vector<std::string>& keys, std::function<std::string()> violation);

 private:
  Key& add(const std::string& name, Key::Target target);
  Deck& deck_;
  std::string name_;
};

class Deck {
 public:
  /// A later layer's values replace an earlier one's.
  void add(const Layer& layer);

  Block block(const std::string& name);
  /// A rule over several keys ("block.key"), judged only where each of them is right on its own; returns what is wrong,
  /// or nothing. The place named is that of the first key that was given.
  void check(std::vector<std::string> keys, std::function<std::string()> violation);

  /// Judges everything together. Throws Refused with all violations, each with its place, name, the text read, and what
  /// would be right. A checkpoint's value that the deck leaves without effect falls back to its default.
  void settle();

  const std::deque<Key>& keys() const { return keys_; }
  const std::vector<std::pair<std::string, std::string>>& blocks() const { return blocks_; }
  /// Every key in effect, as a deck that gives the same run.
  std::string resolved_text() const;

 private:
  friend class Block;
  Key& add(Key key);
  const Key* find(const std::string& full_name) const;
  void judge_names();
  void judge_keys();
  void judge_effects();
  void judge_checks();
  bool in_effect(const Key& key) const;
  bool wrong(const std::string& full_name) const;
  void refuse(const Where& where, const std::string& full_name, const std::string& what);

  struct Check {
    std::vector<std::string> keys;
    std::function<std::string()> violation;
  };
  std::vector<Layer> layers_;
  std::deque<Key> keys_;  // a deque: describe() keeps references
  std::vector<std::pair<std::string, std::string>> blocks_;
  std::vector<Check> checks_;
  std::vector<Violation> violations_;
  std::vector<std::string> wrong_;  // full names
};

}  // namespace annulus::deck
