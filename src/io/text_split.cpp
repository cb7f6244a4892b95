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

TextSplit::Part TextSplit::next(std::string_view text, bool last) {
  assert(last || text.size() > look_ahead);
  const std::size_t reach = std::min(look_ahead, static_cast<std::size_t>(stretch_ / 2));  // the next cut stays ahead
  const index_t place = at_ % period_, train = period_ - stretch_;
  const bool validates = place >= train;
  std::size_t count = static_cast<std::size_t>((validates ? period_ : train) - place);
  const std::size_t line_end = count < text.size() ? text.substr(count, reach).find('\n') : std::string_view::npos;
  const bool ends = last || line_end != std::string_view::npos || count + reach <= text.size();
  if (line_end != std::string_view::npos) count += line_end + 1;
  count = std::min(ends ? count : count - 1, text.size());  // short of the place, whose surroundings are not known yet
  at_ += static_cast<index_t>(count);
  return {text.substr(0, count), validates, ends};
}

}  // namespace annulus::io
