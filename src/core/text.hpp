/// Text for people, usable where Kokkos is included (nvcc cannot compile fmt in C++20).
#pragma once
#include <sstream>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace annulus {

/// The parts one after the other, as an ostream writes them.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}
std::string joined(const std::vector<std::string>& parts, const std::string& between);
/// "1.50 GiB", "312 B".
std::string bytes_text(index_t bytes);
/// "2 h 05 min", "3 min 07 s", "41 s".
std::string duration_text(double seconds);
/// "12.3 M", "1.05 B", "640": counts of parameters and tokens.
std::string count_text(double count);
/// The candidate with the fewest single-character edits from `word`; empty when none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace annulus
