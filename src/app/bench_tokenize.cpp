#include "app/bench_tokenize.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

#include "core/error.hpp"
#include "core/text.hpp"
#include "io/document_batch.hpp"
#include "io/file.hpp"

namespace annulus::app {

namespace {

constexpr std::size_t pass_bytes = std::size_t{16} << 20;
constexpr int passes = 7;

/// Of a pass on one thread and of one on two, taken in turns, after one each that warms up.
std::array<double, 2> median_seconds(const io::Tokenizer& tokenizer, const std::string& text, std::size_t copies) {
  std::size_t tokens = 0;
  const auto pass = [&](int threads) {
    io::DocumentBatch batch(tokenizer, threads, [&](std::span<const std::int32_t> ids, bool) { tokens += ids.size(); });
    for (std::size_t n = 0; n < copies; ++n) batch.add(text, false, true);
    const auto begun = std::chrono::steady_clock::now();
    batch.flush();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  std::array<std::vector<double>, 2> seconds;
  for (int n = -1; n < passes; ++n)
    for (const int threads : {1, 2})
      if (const double taken = pass(threads); n >= 0) seconds[threads - 1].push_back(taken);
  for (auto& each : seconds) std::nth_element(each.begin(), each.begin() + passes / 2, each.end());
  return {seconds[0][passes / 2], seconds[1][passes / 2]};
}

}  // namespace

std::vector<BenchRow> bench_tokenize(const std::string& spec, const std::vector<std::string>& files) {
  const auto tokenizer = io::make_tokenizer(spec);
  const std::string kind = spec.substr(0, spec.find(':'));
  std::vector<BenchRow> rows;
  for (const std::string& file : files) {
    const std::string text = io::InputFile(file).text();
    if (text.empty()) throw Refused(file + " is empty");
    const std::size_t copies = (pass_bytes + text.size() - 1) / text.size();
    const double bytes = 1e-6 * static_cast<double>(copies * text.size());
    const std::string name = std::filesystem::path(file).filename().string();
    const auto [one, two] = median_seconds(*tokenizer, text, copies);
    rows.push_back({name, kind, "1 thread", one, bytes / one, "MB/s", "", 0});
    rows.push_back({name, kind, "2 threads", two, bytes / two, "MB/s", "twice 1 thread", 2 * bytes / one});
  }
  return rows;
}

}  // namespace annulus::app
