/// What a deck can hold for a key, as plain types: the only files that see a TOML library are toml.cpp and its tests.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "core/types.hpp"

namespace annulus::deck {

/// A value of a type that no key has: a date, a table, a list of anything but integers.
struct Unusable {
  std::string kind;  ///< "a date"
  bool operator==(const Unusable&) const = default;
};

using Value = std::variant<bool, index_t, double, std::string, std::vector<index_t>, Unusable>;

/// "an integer", "a list of integers".
std::string kind_of(const Value& value);
/// As TOML; reading it gives the same value, doubles to the bit. Empty for what no key can hold.
std::string toml_text(const Value& value);

/// Which layer a value comes from; a later one wins.
enum class Origin { by_default, checkpoint, deck, set };

struct Where {
  Origin origin = Origin::by_default;
  std::string file;  ///< of a deck
  index_t line = 0;  ///< of a deck or of a checkpoint's deck
};

/// "default", "checkpoint", "inputs/quickstart.toml:12", "--set".
std::string text_of(const Where& where);

}  // namespace annulus::deck
