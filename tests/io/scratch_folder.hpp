/// A folder of a test's own, gone at the end of its scope.
#pragma once
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace annulus::test {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "annulus-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

inline std::filesystem::path put(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

/// What `call` writes to stderr.
template <class Call>
std::string stderr_of(const Call& call) {
  const ScratchFolder folder;
  const int before = dup(2), file = open((folder / "stderr").c_str(), O_WRONLY | O_CREAT, 0600);
  dup2(file, 2);
  call();
  dup2(before, 2);
  close(before);
  close(file);
  return content(folder / "stderr");
}

}  // namespace annulus::test
