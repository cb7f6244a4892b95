#include "deck/reference.hpp"

#include "core/text.hpp"

namespace annulus::deck {

namespace {

std::string row_of(const Key& key) {
  const Value& held = key.default_value();
  const std::string allowed = key.range().empty() ? key.type() : text(key.type(), ": ", key.range());
  std::string meaning = key.meaning();
  if (!key.unit().empty()) meaning += text(" [", key.unit(), "]");
  if (!key.decided_by().empty()) meaning += text(". Only where ", key.condition());
  for (const auto& [value, feature] : key.later_values())
    meaning += text(". Not built yet: `", value, "` (", feature, ")");
  return text("| `", key.name(), "` | ", allowed, " | ",
              key.is_required() ? "must be given" : text("`", toml_text(held), "`"), " | ", meaning, " |\n");
}

}  // namespace

std::string reference(const Deck& deck) {
  std::string out;
  for (const auto& [block, doc] : deck.blocks()) {
    out += text("\n## [", block, "]\n\n", doc, "\n");
    std::string rows, later;
    for (const Key& key : deck.keys()) {
      if (key.block() != block) continue;
      if (key.built())
        rows += row_of(key);
      else
        later += text("- `", key.name(), "`: ", key.meaning(), "\n");
    }
    if (!rows.empty()) out += text("\n| key | value | default | meaning |\n|---|---|---|---|\n", rows);
    if (!later.empty()) out += text("\nKnown by name, refused until their feature is built:\n\n", later);
  }
  return out;
}

}  // namespace annulus::deck
