#include "io/nfc.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "io/unicode.hpp"
#include "io/unicode_tables.hpp"

namespace annulus::io {

namespace {

using namespace unicode;

/// Hangul syllables compose by arithmetic (Unicode 16.0, section 3.12).
constexpr char32_t hangul = 0xAC00, hangul_l = 0x1100, hangul_v = 0x1161, hangul_t = 0x11A7;
constexpr char32_t l_count = 19, v_count = 21, t_count = 28;

bool within(char32_t point, char32_t first, char32_t count) { return point >= first && point - first < count; }

class Tables {
 public:
  Tables() {
    for (const auto& [first, count, combining_class] : combining_runs)
      for (std::uint32_t n = 0; n < count; ++n) combining_[first + n] = combining_class;
    for (const auto& [composed, first] : singles) parts_[composed] = {first, 0};
    for (const auto& [composed, first, second, composes] : unicode::pairs) {
      parts_[composed] = {first, second};
      if (!composes) continue;
      pairs_[key(first, second)] = composed;
      meets_[second] = true;
      stays_[composed] = true;
    }
  }

  std::uint8_t combining(char32_t point) const {
    const auto found = combining_.find(point);
    return found == combining_.end() ? 0 : found->second;
  }
  /// Whether NFC may depend on what stands before this character, or changes it.
  bool needs_work(char32_t point) const {
    if (point < 0x300) return false;
    if (within(point, hangul_v, v_count) || within(point, hangul_t + 1, t_count - 1)) return true;
    return combining(point) || meets_.contains(point) || (parts_.contains(point) && !stays_.contains(point));
  }
  void decompose(char32_t point, std::vector<char32_t>& out) const {
    if (within(point, hangul, l_count * v_count * t_count)) {
      const char32_t index = point - hangul;
      out.push_back(hangul_l + index / (v_count * t_count));
      out.push_back(hangul_v + index % (v_count * t_count) / t_count);
      if (index % t_count) out.push_back(hangul_t + index % t_count);
      return;
    }
    const auto found = parts_.find(point);
    if (found == parts_.end()) return out.push_back(point);
    decompose(found->second.first, out);
    if (found->second.second) out.push_back(found->second.second);
  }
  /// 0 where the two do not compose.
  char32_t composed(char32_t first, char32_t second) const {
    if (within(first, hangul_l, l_count) && within(second, hangul_v, v_count))
      return hangul + ((first - hangul_l) * v_count + (second - hangul_v)) * t_count;
    if (within(first, hangul, l_count * v_count * t_count) && (first - hangul) % t_count == 0 &&
        within(second, hangul_t + 1, t_count - 1))
      return first + (second - hangul_t);
    const auto found = pairs_.find(key(first, second));
    return found == pairs_.end() ? 0 : found->second;
  }

 private:
  static std::uint64_t key(char32_t first, char32_t second) { return std::uint64_t{first} << 32 | second; }

  std::unordered_map<char32_t, std::uint8_t> combining_;
  std::unordered_map<char32_t, std::pair<char32_t, char32_t>> parts_;
  std::unordered_map<char32_t, bool> meets_, stays_;
  std::unordered_map<std::uint64_t, char32_t> pairs_;
};

/// One stretch that begins with a character that meets nothing before it, or with the text.
void append_normalized(const Tables& tables, const std::vector<char32_t>& stretch, std::string& out) {
  std::vector<char32_t> points;
  for (const char32_t point : stretch) tables.decompose(point, points);
  for (auto at = points.begin(); at != points.end();) {
    const auto is_starter = [&](char32_t point) { return tables.combining(point) == 0; };
    const auto first = std::find_if_not(at, points.end(), is_starter);
    at = std::find_if(first, points.end(), is_starter);
    std::stable_sort(first, at, [&](char32_t a, char32_t b) { return tables.combining(a) < tables.combining(b); });
  }
  std::vector<char32_t> composed;
  std::ptrdiff_t starter = -1;
  int last_class = -1;  // of what stands between the starter and here; -1: nothing
  for (const char32_t point : points) {
    const int combining = tables.combining(point);
    const char32_t both = starter >= 0 && last_class < combining ? tables.composed(composed[starter], point) : 0;
    if (both) {
      composed[starter] = both;
      continue;
    }
    composed.push_back(point);
    last_class = combining;
    if (combining == 0) {
      starter = std::ptrdiff_t(composed.size()) - 1;
      last_class = -1;
    }
  }
  for (const char32_t point : composed) append(out, point);
}

}  // namespace

bool surely_nfc(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0xCC; });
}

std::string nfc(std::string_view text) {
  static const Tables tables;
  std::string out;
  out.reserve(text.size());
  std::vector<char32_t> stretch;
  const auto finish = [&] {
    if (stretch.size() == 1 && !tables.needs_work(stretch[0]))
      append(out, stretch[0]);
    else if (!stretch.empty())
      append_normalized(tables, stretch, out);
    stretch.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const Character found = character(text, at);
    if (!found.well_formed || !tables.needs_work(found.point)) finish();
    if (found.well_formed)
      stretch.push_back(found.point);
    else
      out += text[at];
    at += found.size;
  }
  finish();
  return out;
}

}  // namespace annulus::io
