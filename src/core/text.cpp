#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace annulus {

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  return fmt::format("{}", fmt::join(parts, between));
}

std::string bytes_text(index_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 5) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, units[unit]);
}

std::string duration_text(double seconds) {
  const index_t whole = std::llround(std::max(seconds, 0.0));
  if (whole >= 86400) return fmt::format("{} d {:02} h", whole / 86400, whole % 86400 / 3600);
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

std::string count_text(double count) {
  constexpr std::pair<double, const char*> units[] = {{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [size, name] : units)
    if (count >= size) return fmt::format("{:.3g} {}", count / size, name);
  return fmt::format("{:.0f}", count);
}

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  /// Levenshtein distance, one row of the table at a time.
  const auto edits = [&word](const std::string& other) {
    std::vector<std::size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0]++;
      for (std::size_t j = 1; j <= other.size(); ++j) {
        const std::size_t replaced = diagonal + (word[i - 1] != other[j - 1]);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
      }
    }
    return row.back();
  };
  std::string best;
  std::size_t fewest = std::max<std::size_t>(2, word.size() / 2);  // further than this is another word
  for (const auto& candidate : candidates)
    if (const auto count = edits(candidate); count <= fewest && (best.empty() || count < fewest)) {
      best = candidate;
      fewest = count;
    }
  return best;
}

}  // namespace annulus
