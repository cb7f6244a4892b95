#include "program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "core/rng.hpp"
#include "core/text.hpp"
#include "support/places.hpp"

namespace annulus::end_to_end {

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "annulus-test-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("no temporary directory");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path Folder::write(const std::string& name, const std::string& content) const {
  std::ofstream(path_ / name) << content;
  return path_ / name;
}

std::string read(const std::filesystem::path& file) {
  std::ostringstream content;
  content << std::ifstream(file).rdbuf();
  return content.str();
}

Outcome run_annulus(const Folder& folder, const std::string& arguments, int ranks,
                    const std::map<std::string, std::string>& environment, const std::string& program) {
  std::string command = "cd " + folder.path().string() + " && env";
  for (const auto& [name, value] : environment) command += " " + name + "='" + value + "'";
  command += " " + (ranks > 0 ? test::on_ranks(ranks) : std::string());
  const auto out = folder.path() / ".stdout", error = folder.path() / ".stderr";
  command +=
      text(test::program_path(program), " ", arguments, " >", out.string(), " 2>", error.string(), " </dev/null");
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(out), read(error)};
}

std::string small_deck(const std::map<std::string, std::string>& settings) {
  std::map<std::string, std::string> keys = {{"run.name", "\"small\""},
                                             {"run.directory", "\"runs\""},
                                             {"mesh.dp", "1"},
                                             {"mesh.ring", "1"},
                                             {"model.layers", "2"},
                                             {"model.width", "32"},
                                             {"model.heads", "4"},
                                             {"model.kv_heads", "2"},
                                             {"model.head_dim", "8"},
                                             {"model.ffn", "48"},
                                             {"data.train", "\"data\""},
                                             {"data.validation", "\"data\""},
                                             {"data.sequence_length", "97"},
                                             {"train.steps", "8"},
                                             {"train.micro_batch", "1"},
                                             {"schedule.peak", "0.003"},
                                             {"schedule.warmup", "2"},
                                             {"eval.windows", "2"},
                                             {"precision.compute", "\"fp32\""}};
  for (const auto& [key, value] : settings) keys[key] = value;
  std::string deck, block;
  for (const auto& [key, value] : keys) {  // sorted, so blocks stay together
    const auto dot = key.find('.');
    if (key.substr(0, dot) != block) {
      block = key.substr(0, dot);
      deck += "[" + block + "]\n";
    }
    deck += key.substr(dot + 1) + " = " + value + "\n";
  }
  return deck;
}

void make_shards(const Folder& folder) {
  const std::vector<std::string> words = {"the ",  "ring ",    "turns ",   "and ",   "keys ", "travel ",
                                          "home ", "while ",   "queries ", "wait ",  "for ",  "a ",
                                          "long ", "context ", "that ",    "never ", "ends. "};
  std::string text;
  for (std::uint64_t n = 0; text.size() < 60000; ++n) {
    text += words[std::size_t(double(words.size()) * uniform(1, Draw::test, 0, n))];
    if (n % 40 == 39) text += "\n";
  }
  folder.write("text.txt", text);
  const Outcome outcome = run_annulus(folder, "tokenize text.txt --out data");
  if (outcome.code != 0) throw std::runtime_error("tokenize: " + outcome.error);
}

std::vector<std::string> column(const std::filesystem::path& metrics, const std::string& name) {
  std::ifstream file(metrics);
  std::string line, cell;
  std::getline(file, line);
  std::istringstream header(line);
  int wanted = -1;
  for (int at = 0; std::getline(header, cell, ','); ++at)
    if (cell == name) wanted = at;
  if (wanted < 0) throw std::runtime_error(metrics.string() + " has no column " + name);
  std::vector<std::string> values;
  while (std::getline(file, line)) {
    std::istringstream row(line);
    for (int at = 0; at <= wanted; ++at) std::getline(row, cell, ',');
    values.push_back(cell);
  }
  return values;
}

}  // namespace annulus::end_to_end
