/// A tokenizer.json of Qwen's kind with little more than the 256 bytes, for tests that need no published vocabulary.
#pragma once
#include <nlohmann/json.hpp>

#include "io/token_files.hpp"
#include "io/tokenizer.hpp"

namespace annulus::test {

using Json = nlohmann::json;

inline constexpr const char* qwen2_expression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

inline std::string utf8(int point) {
  if (point < 0x80) return std::string(1, static_cast<char>(point));
  return {static_cast<char>(0xC0 | point >> 6), static_cast<char>(0x80 | (point & 0x3F))};
}

/// The 256 bytes in the byte-level alphabet, by the rule of GPT-2's encoder.py: ids in the order of the alphabet.
inline Json alphabet() {
  Json vocabulary = Json::object();
  int id = 0, next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool kept = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    vocabulary[utf8(kept ? byte : next++)] = id++;
  }
  return vocabulary;
}

/// Qwen's kind: 256 bytes, "ab" (256), " ab" (257), then end-of-text (258), a control token and one that text spells.
inline Json tokenizer_json() {
  Json vocabulary = alphabet();
  vocabulary["ab"] = 256;
  vocabulary["\u0120ab"] = 257;
  const auto added = [](int id, const char* content, bool special) {
    return Json{{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
                {"rstrip", false}, {"normalized", false}, {"special", special}};
  };
  return {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens",
       {added(258, "<|endoftext|>", true), added(259, "<|im_start|>", true), added(260, "<think>", false)}},
      {"normalizer", {{"type", "NFC"}}},
      {"pre_tokenizer",
       {{"type", "Sequence"},
        {"pretokenizers",
         {{{"type", "Split"}, {"pattern", {{"Regex", qwen2_expression}}}, {"behavior", "Isolated"}, {"invert", false}},
          {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}}}}}},
      {"post_processor",
       {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}}},
      {"decoder", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}}},
      {"model",
       {{"type", "BPE"},
        {"dropout", nullptr},
        {"unk_token", nullptr},
        {"continuing_subword_prefix", ""},
        {"end_of_word_suffix", ""},
        {"fuse_unk", false},
        {"byte_fallback", false},
        {"ignore_merges", false},
        {"vocab", vocabulary},
        {"merges", {"a b", "\u0120 ab"}}}}};
}

inline Json template_processing(std::vector<const char*> before, std::vector<const char*> after) {
  Json single = Json::array();
  const auto special = [](const char* id) { return Json{{"SpecialToken", {{"id", id}, {"type_id", 0}}}}; };
  for (const char* id : before) single.push_back(special(id));
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  for (const char* id : after) single.push_back(special(id));
  return {{"type", "TemplateProcessing"},
          {"single", single},
          {"special_tokens",
           {{"<|im_start|>", {{"id", "<|im_start|>"}, {"ids", {259}}, {"tokens", {"<|im_start|>"}}}},
            {"<|endoftext|>", {{"id", "<|endoftext|>"}, {"ids", {258}}, {"tokens", {"<|endoftext|>"}}}}}}};
}

inline std::string spec_of(const ScratchFolder& folder, const Json& json) {
  return "hf:" + put(folder / "tokenizer.json", json.dump()).string();
}

}  // namespace annulus::test
