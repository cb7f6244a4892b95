#include "deck/deck.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/text.hpp"

namespace annulus::deck {

void Block::doc(const std::string& sentence) {
  for (auto& [name, doc] : deck_.blocks_)
    if (name == name_) doc = sentence;
}

Key& Block::add(const std::string& name, Key::Target target) { return deck_.add(Key(name_, name, target)); }
Key& Block::key(const std::string& name, bool& target) { return add(name, &target); }
Key& Block::key(const std::string& name, index_t& target) { return add(name, &target); }
Key& Block::key(const std::string& name, double& target) { return add(name, &target); }
Key& Block::key(const std::string& name, std::string& target) { return add(name, &target); }
Key& Block::key(const std::string& name, std::vector<index_t>& target) { return add(name, &target); }
void Block::later(const std::string& name, const std::string& feature) { add(name, {}).doc(feature); }

void Block::check(const std::vector<std::string>& keys, std::function<std::string()> violation) {
  std::vector<std::string> full_names;
  full_names.reserve(keys.size());
  for (const auto& key : keys) full_names.push_back(name_ + "." + key);
  deck_.check(full_names, std::move(violation));
}

void Deck::add(const Layer& layer) {
  layers_.push_back(layer);
  violations_.insert(violations_.end(), layer.violations.begin(), layer.violations.end());
}

Block Deck::block(const std::string& name) {
  blocks_.emplace_back(name, "");
  return {*this, name};
}

void Deck::check(std::vector<std::string> keys, std::function<std::string()> violation) {
  checks_.push_back({std::move(keys), std::move(violation)});
}

/// Takes the key's value at once, so that later lines of a describe() see it; its rules follow in settle().
Key& Deck::add(Key key) {
  keys_.push_back(std::move(key));
  Key& added = keys_.back();
  const Given* last = nullptr;
  for (const Layer& layer : layers_)
    for (const Given& given : layer.given)
      if (given.block == added.block() && given.key == added.name()) last = &given;
  if (last) added.take(last->value, last->written, last->where);
  return added;
}

const Key* Deck::find(const std::string& full_name) const {
  const auto found =
      std::find_if(keys_.begin(), keys_.end(), [&](const Key& key) { return key.full_name() == full_name; });
  return found == keys_.end() ? nullptr : &*found;
}

bool Deck::in_effect(const Key& key) const {
  return key.decided_by().empty() || key.has_effect_with(find(key.decided_by())->value());
}

bool Deck::wrong(const std::string& full_name) const {
  return std::find(wrong_.begin(), wrong_.end(), full_name) != wrong_.end();
}

void Deck::refuse(const Where& where, const std::string& full_name, const std::string& what) {
  violations_.push_back({where, full_name + what});
  wrong_.push_back(full_name);
}

void Deck::settle() {
  // judging the rest would only report what the unreadable text would have given
  if (std::all_of(layers_.begin(), layers_.end(), [](const Layer& layer) { return layer.readable; })) {
    judge_names();
    judge_keys();
    judge_effects();
    judge_checks();
  }
  if (violations_.empty()) return;

  std::stable_sort(violations_.begin(), violations_.end(), [](const Violation& a, const Violation& b) {
    return std::pair(a.where.origin, a.where.line) < std::pair(b.where.origin, b.where.line);
  });
  std::vector<std::string> lines;
  for (const auto& [where, what] : violations_)
    lines.push_back(where.origin == Origin::by_default ? what : text(text_of(where), ": ", what));
  throw Refused(lines.size() == 1 ? lines[0] : text(lines.size(), " violations:\n  ", joined(lines, "\n  ")));
}

void Deck::judge_names() {
  std::vector<std::string> block_names;
  for (const auto& [name, doc] : blocks_) block_names.push_back(name);
  const auto known_block = [&](const std::string& name) {
    return std::find(block_names.begin(), block_names.end(), name) != block_names.end();
  };
  for (const Layer& layer : layers_) {
    for (const auto& [name, where] : layer.blocks) {
      if (known_block(name)) continue;
      const std::string near = nearest(name, block_names);
      violations_.push_back({where, text("[", name, "] is no known block; ",
                                         near.empty() ? text("there are [", joined(block_names, "] ["), "]")
                                                      : text("did you mean [", near, "]?"))});
    }
    for (const Given& given : layer.given) {
      if (!known_block(given.block) || find(given.block + "." + given.key)) continue;
      std::vector<std::string> names;
      std::string elsewhere;
      for (const Key& key : keys_) {
        if (key.block() == given.block) names.push_back(key.name());
        if (key.name() == given.key) elsewhere = key.full_name();
      }
      const std::string near = nearest(given.key, names);
      violations_.push_back(
          {given.where, text(given.block, ".", given.key, " is no known key; ",
                             !elsewhere.empty() ? text("did you mean ", elsewhere, "?")
                             : !near.empty()    ? text("did you mean ", given.block, ".", near, "?")
                                                : text("[", given.block, "] has ", joined(names, ", ")))});
    }
  }
}

void Deck::judge_keys() {
  for (const Key& key : keys_) {
    if (!key.given()) {
      if (key.is_required()) refuse(key.where(), key.full_name(), text(" must be given: ", key.meaning()));
    } else if (const std::string what = key.violation(); !what.empty()) {
      refuse(key.where(), key.full_name(), text(" = ", key.value_text(), " ", what));
    }
  }
}

void Deck::judge_effects() {
  for (Key& key : keys_) {
    if (!key.given() || wrong(key.full_name()) || wrong(key.decided_by()) || in_effect(key)) continue;
    if (key.where().origin == Origin::checkpoint) {
      key.reset();
      continue;
    }
    refuse(key.where(), key.full_name(),
           text(" = ", key.value_text(), " has no effect with ", key.decided_by(), " = ",
                find(key.decided_by())->value_text(), "; leave it out, or ", key.deciding_change()));
  }
}

void Deck::judge_checks() {
  for (const Check& check : checks_) {
    if (std::any_of(check.keys.begin(), check.keys.end(), [&](const auto& name) { return wrong(name); })) continue;
    const std::string what = check.violation();
    if (what.empty()) continue;
    Where where;
    for (const auto& name : check.keys)
      if (const Key* key = find(name); where.origin == Origin::by_default && key->given()) where = key->where();
    violations_.push_back({where, what});
  }
}

std::string Deck::resolved_text() const {
  std::string out;
  for (const auto& [block, doc] : blocks_) {
    std::string lines;
    for (const Key& key : keys_)
      if (key.block() == block && key.built() && in_effect(key))
        lines += text(key.name(), " = ", toml_text(key.value()), "\n");
    if (!lines.empty()) out += text(out.empty() ? "" : "\n", "[", block, "]\n", lines);
  }
  return out;
}

}  // namespace annulus::deck
