/// The program as its users run it: in processes of its own, in a directory of its own.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace annulus::end_to_end {

struct Outcome {
  int code;                ///< exit code; 128 + signal where a signal ended it
  std::string out, error;  ///< what it wrote to stdout and stderr
};

/// A new directory that goes when its owner does.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  /// Writes a file below it, and returns its path.
  std::filesystem::path write(const std::string& name, const std::string& content) const;

 private:
  std::filesystem::path path_;
};

std::string read(const std::filesystem::path& file);

/// Runs `annulus ARGUMENTS` in `folder` (under mpiexec where ranks > 0), one thread a rank. `arguments` as a shell
/// reads them; `environment` is added. `program`: "annulus", or "annulus_faulty".
Outcome run_annulus(const Folder& folder, const std::string& arguments, int ranks = 0,
                    const std::map<std::string, std::string>& environment = {}, const std::string& program = "annulus");

/// A deck for a model that trains in a second, over shards that make_shards(folder) has put there. `settings`: lines
/// that replace those with the same key.
///   float type, mesh and steps are what tests change most
std::string small_deck(const std::map<std::string, std::string>& settings = {});
/// Shards of generated text (English-like words from a small grammar) in folder/data.
void make_shards(const Folder& folder);

/// A column of metrics.csv, as text, so that equality is equality of all digits.
std::vector<std::string> column(const std::filesystem::path& metrics, const std::string& name);

}  // namespace annulus::end_to_end
