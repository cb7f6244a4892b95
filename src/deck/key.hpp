/// One key of a deck: what it means, what it may be, and what it was given. A room's describe() builds it up:
///   block.key("layers", layers).doc("transformer blocks").at_least(1);
/// Rules are checked together, once the whole deck is known (Deck::settle).
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deck/value.hpp"

namespace annulus::deck {

class Key {
 public:
  /// Where the value goes; it holds the default until one is given. Nowhere: a key whose feature is not built yet.
  using Target = std::variant<std::monostate, bool*, index_t*, double*, std::string*, std::vector<index_t>*>;

  Key(std::string block, std::string name, Target target);

  Key& doc(std::string sentence);
  Key& unit(std::string unit);
  Key& at_least(double least);
  Key& above(double bound);
  Key& at_most(double most);
  Key& below(double bound);
  Key& one_of(std::vector<std::string> values);
  /// Without it the deck is refused.
  Key& required();
  /// A value that is known but refused: its feature is not built yet.
  Key& later(std::string value, std::string feature);
  /// Likewise every integer above `most`.
  Key& later_above(index_t most, std::string feature);
  /// The key has an effect only where another one ("key" of the same block or "block.key") has one of these values, or,
  /// without values, where it is not empty. Given all the same, it is refused.
  Key& needs(const std::string& other, std::vector<Value> settings = {});

  const std::string& block() const { return block_; }
  const std::string& name() const { return name_; }
  std::string full_name() const { return block_ + "." + name_; }
  bool built() const { return !std::holds_alternative<std::monostate>(target_); }
  bool is_required() const { return required_; }
  /// "integer", "string" ...; empty where the feature is not built.
  std::string type() const;
  /// "at least 1 and at most 8", "\"causal\" or \"full\"": what a value has to be; empty where anything goes.
  std::string range() const;
  const std::string& meaning() const { return doc_; }
  const std::string& unit() const { return unit_; }
  const std::vector<std::string>& values() const { return values_; }
  const Value& default_value() const { return default_; }
  /// Full name of the key that can leave this one without effect; empty when none can.
  const std::string& decided_by() const { return other_; }
  /// "`schedule.shape` is "cosine" or "wsd"", "`data.validation` is given".
  std::string condition() const;
  /// "let schedule.shape be "cosine" or "wsd"", "give data.validation".
  std::string deciding_change() const;
  bool has_effect_with(const Value& other) const;
  /// Values, or "> 1", that are refused for now, and the features that they wait for.
  const std::vector<std::pair<std::string, std::string>>& later_values() const { return later_; }

  /// The value now: the default or what was given.
  Value value() const;
  /// The same as it was written, or else as TOML.
  std::string value_text() const { return given() ? written_ : toml_text(value()); }
  const Where& where() const { return where_; }
  bool given() const { return where_.origin != Origin::by_default; }

  /// Takes a value; one of another type is kept out of the target.
  void take(const Value& value, const std::string& written, const Where& where);
  /// What is wrong with what was given, by the key's own rules; nothing where it is right.
  std::string violation() const;
  /// Back to the default.
  void reset();

 private:
  /// What the rules say about a number.
  bool outside(double number) const;

  std::string block_, name_, doc_, unit_;
  Target target_;
  Value default_;
  Where where_;
  std::string written_;                 ///< the text that was given
  std::optional<Value> of_wrong_type_;  ///< what was given, where the target cannot hold it
  bool required_ = false;
  std::optional<double> least_, above_, most_, below_;
  std::optional<index_t> built_up_to_;
  std::vector<std::string> values_;
  std::vector<std::pair<std::string, std::string>> later_;
  std::string other_;
  std::vector<Value> settings_;
};

}  // namespace annulus::deck
