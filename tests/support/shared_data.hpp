/// Data that lie beside the repository, not in it. A test that needs them and does not find them is skipped, never
/// passed.
#pragma once
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace annulus::test {

/// The path of `relative` below the shared folder, or the end of the test case, with the reason.
inline std::filesystem::path shared_data(const std::string& relative) {
  const char* const folder = std::getenv("ANNULUS_SHARED");
  if (!folder) SKIP("needs shared data (" << relative << "): ANNULUS_SHARED, the folder they lie in, is not set");
  const std::filesystem::path path = std::filesystem::path(folder) / relative;
  if (!std::filesystem::exists(path)) SKIP("needs shared data, and there is no " << path.string());
  return path;
}

}  // namespace annulus::test
