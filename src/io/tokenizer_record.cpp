#include "io/tokenizer_record.hpp"

#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "io/file.hpp"

namespace annulus::io {

namespace {
std::filesystem::path record_path(const std::filesystem::path& folder) { return folder / "tokenizer.json"; }
}  // namespace

std::optional<TokenizerRecord> read_tokenizer_record(const std::filesystem::path& folder) {
  const auto path = record_path(folder);
  if (!std::filesystem::exists(path)) return {};
  try {
    const auto json = nlohmann::json::parse(InputFile(path).text());
    TokenizerRecord record{.name = json.at("name"),
                           .vocabulary = json.at("vocabulary"),
                           .end_of_text = json.at("end_of_text"),
                           .hash = json.at("hash"),
                           .train_shards = json.at("shards").at("train"),
                           .validation_shards = json.at("shards").at("val")};
    if (record.vocabulary <= 0 || record.end_of_text < 0 || record.end_of_text >= record.vocabulary)
      throw Refused(path.string() + " has an end-of-text id outside its vocabulary");
    return record;
  } catch (const nlohmann::json::exception& e) {
    throw Refused(path.string() + " is no tokenizer record: " + e.what());
  }
}

void write_tokenizer_record(const std::filesystem::path& folder, const TokenizerRecord& record) {
  const nlohmann::ordered_json json = {{"name", record.name},
                                       {"vocabulary", record.vocabulary},
                                       {"end_of_text", record.end_of_text},
                                       {"hash", record.hash},
                                       {"shards", {{"train", record.train_shards}, {"val", record.validation_shards}}}};
  NewFile file(record_path(folder));
  file.write(0, json.dump(2) + "\n");
  file.commit();
}

std::unique_ptr<Tokenizer> tokenizer_of(const TokenizerRecord& record) {
  auto tokenizer = make_tokenizer(record.name);
  if (tokenizer->hash() != record.hash)
    throw Refused("the shards were made by a \"" + record.name + "\" tokenizer with the vocabulary " + record.hash +
                  ", this program's has " + tokenizer->hash() + ": tokenize the text again");
  return tokenizer;
}

}  // namespace annulus::io
