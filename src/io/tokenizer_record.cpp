#include "io/tokenizer_record.hpp"

#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "io/file.hpp"

namespace annulus::io {

namespace {

std::filesystem::path record_path(const std::filesystem::path& folder) { return folder / "tokenizer.json"; }

/// What shards and checkpoints both keep.
nlohmann::ordered_json identity(const TokenizerRecord& record) {
  return {{"name", record.name},
          {"vocabulary", record.vocabulary},
          {"end_of_text", record.end_of_text},
          {"hash", record.hash}};
}

TokenizerRecord identity(const nlohmann::json& json) {
  TokenizerRecord record{.name = json.at("name"),
                         .vocabulary = json.at("vocabulary"),
                         .end_of_text = json.at("end_of_text"),
                         .hash = json.at("hash")};
  if (record.vocabulary <= 0 || record.end_of_text < 0 || record.end_of_text >= record.vocabulary)
    throw Refused("it has an end-of-text id outside its vocabulary");
  return record;
}

std::string described(const TokenizerRecord& record) {
  const std::string ids =
      std::to_string(record.vocabulary) + " ids, " + std::to_string(record.end_of_text) + " ends a text";
  return record.name.empty() ? ids
                             : record.name + " (" + ids + (record.hash.empty() ? "" : ", hash " + record.hash) + ")";
}

}  // namespace

std::optional<TokenizerRecord> read_tokenizer_record(const std::filesystem::path& folder) {
  const auto path = record_path(folder);
  if (!std::filesystem::exists(path)) return {};
  try {
    const auto json = nlohmann::json::parse(InputFile(path).text());
    TokenizerRecord record = identity(json);
    record.train_shards = json.at("shards").at("train");
    record.validation_shards = json.at("shards").at("val");
    return record;
  } catch (const nlohmann::json::exception& e) {
    throw Refused(path.string() + " is no tokenizer record: " + e.what());
  } catch (const Refused& refused) {
    throw Refused(path.string() + " is no tokenizer record: " + refused.what());
  }
}

void write_tokenizer_record(const std::filesystem::path& folder, const TokenizerRecord& record) {
  auto json = identity(record);
  json["shards"] = {{"train", record.train_shards}, {"val", record.validation_shards}};
  NewFile file(record_path(folder));
  file.write(0, json.dump(2) + "\n");
  file.commit();
}

std::string text_of(const TokenizerRecord& record) { return record.name.empty() ? "" : identity(record).dump(); }

TokenizerRecord tokenizer_record(const std::string& text) {
  if (text.empty()) return {};
  if (text[0] != '{') {
    const auto tokenizer = make_tokenizer(text);
    return {text, tokenizer->vocabulary(), tokenizer->end_of_text(), tokenizer->hash(), 0, 0};
  }
  try {
    return identity(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& e) {
    throw Refused("the checkpoint's tokenizer is damaged: " + std::string(e.what()));
  }
}

std::unique_ptr<Tokenizer> tokenizer_of(const TokenizerRecord& record, const std::string& spec) {
  if (record.name.empty() && spec.empty())
    throw Refused("which tokenizer made the ids is not known; --tokenizer says it");
  try {
    auto tokenizer = make_tokenizer(spec.empty() ? record.name : spec);
    if (!record.hash.empty() && tokenizer->hash() != record.hash) throw Refused("it has the hash " + tokenizer->hash());
    return tokenizer;
  } catch (const Refused& refused) {
    if (!spec.empty() && record.name.empty()) throw;
    throw Refused("the ids were made by the tokenizer " + described(record) + ", which \"" +
                  (spec.empty() ? record.name : spec) + "\" is not here: " + refused.what() +
                  "; --tokenizer says where it lies");
  }
}

void refuse_mixed(const TokenizerRecord& a, const std::string& of_a, const TokenizerRecord& b,
                  const std::string& of_b) {
  const bool same = a.hash.empty() || b.hash.empty() || a.hash == b.hash;
  if (same && a.vocabulary == b.vocabulary && a.end_of_text == b.end_of_text) return;
  throw Refused("two tokenizers are mixed: " + of_a + " has that of " + described(a) + ", " + of_b + " that of " +
                described(b) + "; tokenize both with one");
}

}  // namespace annulus::io
