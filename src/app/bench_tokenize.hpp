/// `annulus bench tokenize`: text to token ids.
#pragma once
#include <string>
#include <vector>

#include "app/bench_row.hpp"

namespace annulus::app {

/// Bytes of text per second for each file, on one thread and on two, medians of several passes; a pass is 16 MiB or
/// more, the file over and over. Throws Refused for a tokenizer or a file that cannot be used.
std::vector<BenchRow> bench_tokenize(const std::string& tokenizer, const std::vector<std::string>& files);

}  // namespace annulus::app
