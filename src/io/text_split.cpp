#include "io/text_split.hpp"

#include <algorithm>
#include <cassert>

namespace annulus::io {

TextSplit::TextSplit(index_t bytes, double fraction) {
  assert(0 <= fraction && fraction <= 0.5);
  constexpr double longest = 65536, fewest = 8;
  const double stretch = std::clamp(fraction * static_cast<double>(bytes) / fewest, 1.0, longest);
  stretch_ = fraction > 0 ? static_cast<index_t>(stretch) : 0;
  period_ = fraction > 0 ? static_cast<index_t>(static_cast<double>(stretch_) / fraction) : bytes + 1;
}

std::vector<TextSplit::Stretch> TextSplit::stretches(std::string_view file) {
  const std::size_t reach =
      static_cast<std::size_t>(std::min<index_t>(4096, stretch_ / 2));  // the next cut stays ahead
  std::vector<Stretch> stretches;
  while (!file.empty()) {
    const index_t place = at_ % period_, train = period_ - stretch_;
    const bool validates = place >= train;
    std::size_t count = static_cast<std::size_t>((validates ? period_ : train) - place);
    if (count < file.size()) {
      const std::size_t line_end = file.substr(count, reach).find('\n');
      if (line_end != std::string_view::npos) count += line_end + 1;
    }
    count = std::min(count, file.size());
    stretches.push_back({file.substr(0, count), validates});
    file.remove_prefix(count);
    at_ += static_cast<index_t>(count);
  }
  return stretches;
}

}  // namespace annulus::io
