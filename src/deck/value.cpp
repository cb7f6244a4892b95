#include "deck/value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/text.hpp"

namespace annulus::deck {

namespace {

std::string quoted(const std::string& string) {
  std::string out = "\"";
  for (const char c : string) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\u{:04X}", byte);
    else
      out += c;
  }
  return out + '"';
}

/// The shortest digits that give the same double back; TOML tells a float from an integer by its point or exponent.
std::string float_text(double value) {
  const std::string digits = fmt::format("{}", value);
  return digits.find_first_not_of("-0123456789") == std::string::npos ? digits + ".0" : digits;
}

}  // namespace

std::string kind_of(const Value& value) {
  if (const auto* unusable = std::get_if<Unusable>(&value)) return unusable->kind;
  constexpr const char* kinds[] = {"true or false", "an integer", "a number", "a string", "a list of integers"};
  return kinds[value.index()];
}

std::string toml_text(const Value& value) {
  struct Writer {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(index_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const { return float_text(v); }
    std::string operator()(const std::string& v) const { return quoted(v); }
    std::string operator()(const std::vector<index_t>& v) const { return fmt::format("[{}]", fmt::join(v, ", ")); }
    std::string operator()(const Unusable&) const { return ""; }
  };
  return std::visit(Writer{}, value);
}

std::string text_of(const Where& where) {
  switch (where.origin) {
    case Origin::by_default:
      return "default";
    case Origin::checkpoint:
      return "checkpoint";
    case Origin::set:
      return "--set";
    case Origin::deck:
      break;
  }
  return text(where.file, ":", where.line);
}

}  // namespace annulus::deck
