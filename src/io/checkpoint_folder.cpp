#include "io/checkpoint_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "core/error.hpp"
#include "core/text.hpp"
#include "io/checkpoint.hpp"
#include "io/run_directory.hpp"

namespace annulus::io {

namespace fs = std::filesystem;

namespace {
constexpr const char* partial_suffix = ".partial";
}

fs::path checkpoint_path(const fs::path& run, index_t step) {
  return RunDirectory{run}.checkpoints() / fmt::format("step_{:09}.h5", step);
}

fs::path partial_path(const fs::path& checkpoint) { return checkpoint.string() + partial_suffix; }

std::vector<index_t> checkpoint_steps(const fs::path& run) {
  std::vector<index_t> steps;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(RunDirectory{run}.checkpoints(), none)) {
    const std::string name = entry.path().filename().string();
    constexpr std::size_t first = std::string_view("step_").size();
    index_t step = -1;
    if (name.size() > first) std::from_chars(name.data() + first, name.data() + name.size(), step);
    if (step >= 0 && entry.path() == checkpoint_path(run, step)) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end(), std::greater<>());
  return steps;
}

void prepare_folder(const fs::path& folder, index_t bytes) {
  fs::create_directories(folder);
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == partial_suffix) fs::remove(entry.path());
  constexpr index_t headers = index_t{4} << 20;  // more than describing any model takes
  const auto available = static_cast<index_t>(fs::space(folder).available);
  if (available < bytes + headers)
    throw Error(Exit::internal, fmt::format("it takes {}, and {} are free in {}", bytes_text(bytes + headers),
                                            bytes_text(available), folder.string()));
}

void keep_newest(const fs::path& run, index_t keep) {
  index_t complete = 0;
  for (const index_t step : checkpoint_steps(run)) {
    const fs::path path = checkpoint_path(run, step);
    if (complete >= keep) {
      fs::remove(path);
      continue;
    }
    try {
      read_checkpoint_info(path);
      ++complete;
    } catch (const BadCheckpoint&) {
      continue;  // named when someone wants to resume from it
    }
  }
}

}  // namespace annulus::io
