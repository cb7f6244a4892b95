#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/text.hpp"
#include "io/byte_pair_files.hpp"
#include "io/file.hpp"
#include "io/token_table.hpp"

namespace annulus::io {

namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& member, const Json& value, const std::string& served) {
  std::string shown = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (shown.size() > 300) shown = shown.substr(0, 300) + " ...";
  throw Refused(member + " is " + shown + "; served is " + served);
}

const Json& member(const Json& object, const char* name) {
  static const Json null;
  const auto found = object.find(name);
  return found == object.end() ? null : *found;
}

/// Refuses an object with members other than these.
void only(const std::string& where, const Json& object, std::initializer_list<const char*> names) {
  if (!object.is_object()) refuse(where, object, "an object");
  for (const auto& [name, value] : object.items())
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Refused(text(where, " has the member \"", name, "\", which is not known here"));
}

/// A switch that must be off; absent and null are.
void off(const std::string& where, const Json& object, const char* name) {
  const Json& value = member(object, name);
  const bool is_off = value.is_null() || value == false || value == "" || value == 0.0;
  if (!is_off) refuse(where + "." + name, value, "none");
}

std::string type_of(const Json& object) { return object.is_object() ? object.value("type", "") : ""; }

/// A Sequence's members, or what stands there alone.
std::vector<Json> steps(const Json& given, const char* list) {
  if (given.is_null()) return {};
  if (type_of(given) != "Sequence") return {given};
  return given.at(list).get<std::vector<Json>>();
}

bool normalizes(const Json& normalizer) {
  if (const auto found = steps(normalizer, "normalizers"); found.size() <= 1) {
    if (found.empty()) return false;
    if (type_of(found[0]) == "NFC") return true;
  }
  refuse("normalizer", normalizer, "none and NFC");
}

void check_byte_level(const Json& step) {
  only("pre_tokenizer ByteLevel", step, {"type", "add_prefix_space", "trim_offsets", "use_regex"});
  off("pre_tokenizer ByteLevel", step, "add_prefix_space");
}

Pattern pattern_of(const Json& pre_tokenizer) {
  constexpr const char* served =
      "ByteLevel, or a Split (Regex, Isolated) by the pattern of GPT-2, cl100k, o200k, Llama 3 or Qwen 2 followed by "
      "ByteLevel without use_regex";
  const auto found = steps(pre_tokenizer, "pretokenizers");
  if (found.empty() || found.size() > 2 || type_of(found.back()) != "ByteLevel")
    refuse("pre_tokenizer", pre_tokenizer, served);
  check_byte_level(found.back());
  const bool use_regex = found.back().value("use_regex", true);
  if (found.size() == 1) return use_regex ? Pattern::gpt2 : Pattern::none;
  const Json& split = found.front();
  if (type_of(split) != "Split" || use_regex) refuse("pre_tokenizer", pre_tokenizer, served);
  only("pre_tokenizer Split", split, {"type", "pattern", "behavior", "invert"});
  off("pre_tokenizer Split", split, "invert");
  const Json& expression = member(split.at("pattern"), "Regex");
  const auto pattern = pattern_spelled(expression.is_string() ? expression.get<std::string>() : "");
  if (split.value("behavior", "") != "Isolated" || !pattern) refuse("pre_tokenizer", pre_tokenizer, served);
  return *pattern;
}

TokenTable vocabulary_of(const Json& model) {
  if (type_of(model) != "BPE" && !(type_of(model).empty() && model.contains("merges")))
    refuse("model.type", member(model, "type"), "BPE");
  only("model", model,
       {"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback",
        "ignore_merges", "vocab", "merges"});
  // unk_token and fuse_unk have no effect: every byte has a token
  for (const char* name : {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"})
    off("model", model, name);
  TokenTable table;
  table.add_all(model.at("vocab"));
  return table;
}

std::vector<Merge> merges_of(const Json& listed, const TokenTable& table) {
  if (!listed.is_array()) throw Refused("model.merges is no list");
  std::vector<Merge> merges;
  merges.reserve(listed.size());
  for (const Json& each : listed) {
    if (!each.is_string() && !(each.is_array() && each.size() == 2)) refuse("a merge", each, "a pair of tokens");
    const auto [left, right] = each.is_string() ? parts_of_merge(each.get<std::string>())
                                                : std::pair(each[0].get<std::string>(), each[1].get<std::string>());
    merges.push_back(table.merge(left, right, static_cast<std::int32_t>(merges.size())));
  }
  return merges;
}

AddedToken added_token(const Json& given, const TokenTable& table) {
  only("an added token", given, {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
  const auto content = given.at("content").get<std::string>();
  const auto id = given.at("id").get<std::int64_t>();
  const std::string where = "added token \"" + content + "\"";
  if (content.empty() || content.size() > longest_token || id < 0 || id >= most_ids)
    throw Refused(text("added token ", id, ", \"", content.substr(0, 60), "\", is none: tokens have 1 to ",
                       longest_token, " bytes and ids of 0 to ", most_ids - 1));
  AddedToken token{static_cast<std::int32_t>(id), content, given.at("special").get<bool>(),
                   given.at("normalized").get<bool>()};
  if (!token.controls) {  // what is not looked for may be looked for in any way
    for (const char* name : {"single_word", "lstrip", "rstrip"}) off(where, given, name);
  }
  const bool taken = id <= table.largest() && !table.tokens()[id].empty();
  if ((taken || table.find(content) >= 0) && table.find(content) != id)
    throw Refused(text(where, " has the id ", id, ", and the vocabulary has another opinion"));
  return token;
}

std::vector<AddedToken> added_tokens(const Json& given, const TokenTable& table) {
  std::vector<AddedToken> added;
  for (const Json& each : given) {
    added.push_back(added_token(each, table));
    for (std::size_t n = 0; n + 1 < added.size(); ++n)
      if (added[n].id == added.back().id || added[n].text == added.back().text)
        throw Refused(text("added token \"", added.back().text, "\" is there twice, or has an id that is taken"));
  }
  const bool any_is_text =
      std::any_of(added.begin(), added.end(), [](const AddedToken& token) { return !token.controls; });
  for (const AddedToken& token : added)
    if (any_is_text && last_cut(token.text) > 0)  // text may be cut within it
      throw Refused("added token \"" + token.text + "\" holds a word and a space after it; served are tokens without");
  return added;
}

std::int32_t end_of_text_among(const std::vector<AddedToken>& added, const std::string& given) {
  const auto usual = {std::string("<|endoftext|>"), std::string("<|end_of_text|>")};
  for (const std::string& name : given.empty() ? std::vector<std::string>(usual) : std::vector{given})
    for (const AddedToken& token : added)
      if (token.text == name && token.controls) return token.id;
  if (given.empty())
    throw Refused(
        "no special token is called <|endoftext|> or <|end_of_text|>; say after the file which one ends a "
        "document, as in hf:tokenizer.json:</s>");
  throw Refused("there is no special token \"" + given + "\"");
}

/// The ids that a post-processor puts before a text. After it, only end-of-text may come, which closes documents
/// anyway.
std::vector<std::int32_t> document_start(const Json& processor, std::int32_t end_of_text) {
  constexpr const char* served = "ByteLevel, or special tokens before a text and end-of-text after it";
  std::vector<std::int32_t> before;
  for (const Json& step : steps(processor, "processors")) {
    if (type_of(step) == "ByteLevel") continue;
    if (type_of(step) != "TemplateProcessing" || !before.empty()) refuse("post_processor", processor, served);
    bool after = false;
    for (const Json& part : step.at("single")) {
      if (part.contains("Sequence") && !after && part["Sequence"].value("id", "") == "A") {
        after = true;
        continue;
      }
      if (!part.contains("SpecialToken")) refuse("post_processor", processor, served);
      const auto& ids = step.at("special_tokens").at(part["SpecialToken"].at("id").get<std::string>()).at("ids");
      for (const Json& id : ids) {
        if (after && id != end_of_text) refuse("post_processor", processor, served);
        if (!after) before.push_back(id.get<std::int32_t>());
      }
    }
    if (!after) refuse("post_processor", processor, served);
  }
  return before;
}

BytePairModel model_of(const Json& json, const std::string& end_of_text) {
  only("the file", json,
       {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder",
        "model"});
  off("the file", json, "truncation");
  off("the file", json, "padding");
  if (const Json& decoder = member(json, "decoder"); !decoder.is_null() && type_of(decoder) != "ByteLevel")
    refuse("decoder", decoder, "ByteLevel");
  const Json& bpe = json.at("model");
  const TokenTable table = vocabulary_of(bpe);
  TokenTable::ByteLevel found = table.byte_level();
  BytePairModel model{.name = {},
                      .tokens = std::move(found.tokens),
                      .not_bytes = std::move(found.not_bytes),
                      .merges = merges_of(bpe.at("merges"), table),
                      .whole_pieces = bpe.value("ignore_merges", false),
                      .pattern = pattern_of(member(json, "pre_tokenizer")),
                      .nfc = normalizes(member(json, "normalizer")),
                      .added = added_tokens(member(json, "added_tokens"), table),
                      .document_start = {},
                      .vocabulary = table.largest() + 1};
  model.end_of_text = end_of_text_among(model.added, end_of_text);
  model.document_start = document_start(member(json, "post_processor"), model.end_of_text);
  for (const AddedToken& token : model.added) {
    model.vocabulary = std::max<index_t>(model.vocabulary, token.id + 1);
    if (token.controls && token.id <= table.largest()) model.tokens[token.id].clear();
  }
  for (const std::int32_t id : model.document_start)
    if (id < 0 || id >= model.vocabulary) throw Refused(text("post_processor puts the id ", id, " before a text"));
  return model;
}

}  // namespace

BytePairModel read_tokenizer_json(const std::filesystem::path& file, const std::string& end_of_text) {
  try {
    return model_of(Json::parse(InputFile(file).text()), end_of_text);
  } catch (const Json::exception& e) {
    throw Refused(file.string() + " is no tokenizer.json: " + e.what());
  } catch (const Refused& refused) {
    throw Refused(file.string() + ": " + refused.what());
  }
}

}  // namespace annulus::io
