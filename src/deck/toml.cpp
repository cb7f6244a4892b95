#include "deck/toml.hpp"

// Version 3.3 asserts that a table's name begins as a key must, and refuses "[.x]" properly just after that; with
// NDEBUG the assertion would be a promise to the optimiser.
#undef NDEBUG
#define TOML_ASSERT(condition) static_cast<void>(0)
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <sstream>

#include "core/text.hpp"

namespace annulus::deck {

namespace {

/// The text between two places of the same line; of a longer stretch, its first line and dots.
std::string stretch(const std::vector<std::string>& lines, const toml::source_region& source) {
  if (source.begin.line == 0 || source.begin.line > lines.size()) return "";
  const std::string& line = lines[source.begin.line - 1];
  const auto byte_of = [&](std::size_t column) {  // columns count characters from 1
    std::size_t byte = 0;
    for (; byte < line.size(); ++byte)
      if ((static_cast<unsigned char>(line[byte]) & 0xc0) != 0x80 && --column == 0) break;
    return byte;
  };
  const std::size_t begin = byte_of(source.begin.column);
  if (source.end.line != source.begin.line) return line.substr(begin) + " ...";
  return line.substr(begin, byte_of(source.end.column) - begin);
}

std::string kind_of_node(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list of anything but integers";
    case toml::node_type::date:
      return "a date";
    case toml::node_type::time:
      return "a time";
    default:
      return "a date with a time";
  }
}

Value value_of(const toml::node& node) {
  if (const auto* v = node.as_boolean()) return v->get();
  if (const auto* v = node.as_integer()) return index_t{v->get()};
  if (const auto* v = node.as_floating_point()) return v->get();
  if (const auto* v = node.as_string()) return v->get();
  if (const auto* list = node.as_array(); list && (list->empty() || list->is_homogeneous<std::int64_t>())) {
    std::vector<index_t> integers;
    for (const auto& element : *list) integers.push_back(element.as_integer()->get());
    return integers;
  }
  return Unusable{kind_of_node(node)};
}

}  // namespace

Layer read_toml(const std::string& text, const std::string& name, Origin origin) {
  Layer layer;
  const auto at = [&](const toml::source_region& source) { return Where{origin, name, index_t{source.begin.line}}; };
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed) {
    layer.violations.push_back(
        {at(parsed.error().source()), annulus::text("is no TOML: ", parsed.error().description())});
    layer.readable = false;
    return layer;
  }
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  for (const auto& [block, node] : parsed.table()) {
    const toml::table* const table = node.as_table();
    if (!table) {
      layer.violations.push_back(
          {at(node.source()),
           annulus::text(block.str(), " stands outside of a block; a deck's keys lie in blocks, such as [run]")});
      continue;
    }
    layer.blocks.emplace_back(block.str(), at(table->source()));
    for (const auto& [key, value] : *table)
      layer.given.push_back({std::string(block.str()), std::string(key.str()), value_of(value),
                             stretch(lines, value.source()), at(value.source())});
  }
  return layer;
}

Layer read_setting(const std::string& assignment) {
  const Where here{Origin::set, "", 0};
  Layer layer;
  const auto equals = assignment.find('='), dot = assignment.find('.');
  if (equals == std::string::npos || dot == std::string::npos || dot > equals || dot == 0 || dot + 1 == equals) {
    layer.violations.push_back({here, text("\"", assignment, "\" is not of the form block.key=value")});
    return layer;
  }
  const std::string written = assignment.substr(equals + 1);
  toml::parse_result parsed = toml::parse("value = " + written);
  const bool meant_as_toml = written.empty() || std::string("\"'[{").find(written[0]) != std::string::npos;
  if (!parsed && !meant_as_toml) parsed = toml::parse("value = " + toml_text(Value(written)));
  if (!parsed || parsed.table().size() != 1) {
    layer.violations.push_back({here, text(assignment, ": the value is no TOML",
                                           parsed ? std::string() : text(": ", parsed.error().description()))});
    return layer;
  }
  const std::string block = assignment.substr(0, dot), key = assignment.substr(dot + 1, equals - dot - 1);
  layer.blocks.emplace_back(block, here);
  layer.given.push_back({block, key, value_of(*parsed.table().get("value")), written, here});
  return layer;
}

}  // namespace annulus::deck
