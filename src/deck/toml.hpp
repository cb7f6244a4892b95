/// Reads TOML into plain values with their places. Hides the TOML library, which is slow to compile and which nvcc
/// rejects.
#pragma once
#include <string>
#include <vector>

#include "deck/value.hpp"

namespace annulus::deck {

/// One key as a text gives it.
struct Given {
  std::string block, key;
  Value value;
  std::string written;  ///< the value's text
  Where where;
};

/// Something to refuse, in words that follow its place.
struct Violation {
  Where where;
  std::string what;
};

/// Everything that one text, or one --set, gives.
struct Layer {
  std::vector<Given> given;
  std::vector<std::pair<std::string, Where>> blocks;  ///< also empty ones
  std::vector<Violation> violations;                  ///< of form
  bool readable = true;                               ///< false: a syntax error hides everything that the text gives
};

/// `name` is the file's, for messages; origin is deck or checkpoint.
Layer read_toml(const std::string& text, const std::string& name, Origin origin = Origin::deck);

/// "block.key=value": the value as TOML, or else as a bare string.
Layer read_setting(const std::string& assignment);

}  // namespace annulus::deck
