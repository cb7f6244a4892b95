#include "support/places.hpp"

#include <cstdlib>
#include <filesystem>

namespace annulus::test {

namespace {

std::string setting(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value ? value : otherwise;
}

}  // namespace

std::string program_path(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename(name).string();
}

std::string on_ranks(int ranks) {
  return setting("ANNULUS_MPIEXEC", MPIEXEC) + " " MPIEXEC_RANKS_FLAG " " + std::to_string(ranks) + " ";
}

std::string source_path(const std::string& relative) { return setting("ANNULUS_SOURCE", SOURCE) + "/" + relative; }

}  // namespace annulus::test
