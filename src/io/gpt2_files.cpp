#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.hpp"
#include "core/text.hpp"
#include "io/byte_pair_files.hpp"
#include "io/file.hpp"
#include "io/token_table.hpp"

namespace annulus::io {

namespace fs = std::filesystem;

namespace {

constexpr const char* end_of_text = "<|endoftext|>";

struct Files {
  fs::path merges, vocabulary;
};

Files files_in(const fs::path& folder) {
  for (const auto& [merges, vocabulary] :
       {std::pair("vocab.bpe", "encoder.json"), {"merges.txt", "vocab.json"}, {"gpt2-vocab.bpe", "gpt2-encoder.json"}})
    if (fs::exists(folder / merges) && fs::exists(folder / vocabulary)) return {folder / merges, folder / vocabulary};
  throw Refused(text(folder.string(), " does not hold GPT-2's vocab.bpe and encoder.json"));
}

TokenTable vocabulary_of(const fs::path& path) {
  try {
    TokenTable table;
    table.add_all(nlohmann::json::parse(InputFile(path).text()));
    if (table.find(end_of_text) < 0) throw Refused(text("the vocabulary lacks ", end_of_text));
    return table;
  } catch (const nlohmann::json::exception& e) {
    throw Refused(path.string() + " is no vocabulary: " + e.what());
  } catch (const Refused& refused) {
    throw Refused(path.string() + ": " + refused.what());
  }
}

std::vector<Merge> merges_of(const fs::path& path, const TokenTable& table) {
  std::vector<Merge> merges;
  std::istringstream lines(InputFile(path).text());
  index_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    try {
      const auto [left, right] = parts_of_merge(line);
      merges.push_back(table.merge(left, right, static_cast<std::int32_t>(merges.size())));
    } catch (const Refused& refused) {
      throw Refused(text(path.string(), ":", number, ": ", refused.what()));
    }
  }
  return merges;
}

}  // namespace

BytePairModel read_gpt2_files(const fs::path& folder) {
  const Files files = files_in(folder);
  const TokenTable table = vocabulary_of(files.vocabulary);
  const std::int32_t last = table.find(end_of_text);
  TokenTable::ByteLevel found = table.byte_level();
  BytePairModel model{.name = {},
                      .tokens = std::move(found.tokens),
                      .not_bytes = std::move(found.not_bytes),
                      .merges = merges_of(files.merges, table),
                      .pattern = Pattern::gpt2,
                      .added = {{last, end_of_text, true, false}},
                      .document_start = {},
                      .end_of_text = last,
                      .vocabulary = table.largest() + 1};
  model.tokens[last].clear();
  return model;
}

}  // namespace annulus::io
