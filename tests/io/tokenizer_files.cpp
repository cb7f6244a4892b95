#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>
#include <random>

#include "core/error.hpp"
#include "io/pieces.hpp"
#include "io/small_vocabulary.hpp"

using namespace annulus;
using namespace annulus::io;
using namespace annulus::test;
using Catch::Matchers::ContainsSubstring;

namespace {

class Files {
 public:
  std::string spec(const Json& json) { return spec_of(folder_, json); }
  std::string refused(const std::function<void(Json&)>& change) {
    Json json = tokenizer_json();
    change(json);
    return refusal([&] { make_tokenizer(spec(json)); });
  }
  const ScratchFolder& folder() const { return folder_; }

 private:
  ScratchFolder folder_;
};

Ids ids_of(const Tokenizer& tokenizer, const std::string& text) {
  Ids ids;
  tokenizer.encode(text, ids);
  return ids;
}

}  // namespace

TEST_CASE("tokenizer.json: ids, added tokens, normalization and what begins a document", "[io]") {
  Files files;
  Json json = tokenizer_json();
  const auto tokenizer = make_tokenizer(files.spec(json));
  CHECK((tokenizer->vocabulary() == 261 && tokenizer->end_of_text() == 258));
  CHECK(ids_of(*tokenizer, "ab ab") == Ids{256, 257});
  CHECK(ids_of(*tokenizer, "ab<think>ab") == Ids{256, 260, 256});
  CHECK(ids_of(*tokenizer, "<|endoftext|>") == Ids{'<', '|', 'e', 'n', 'd', 'o', 'f', 't', 'e', 'x', 't', '|', '>'});
  CHECK(ids_of(*tokenizer, "e\u0301") == Ids{0xC3, 0xA9});
  CHECK(tokenizer->decode(Ids{256, 260, 257, 258, 259}) == "ab<think> ab");
  CHECK(tokenizer->document_start().empty());

  Json spaced = json;
  spaced["model"]["vocab"][" "] = 261;  // no character of the alphabet, in which a space is U+0120
  spaced["model"]["ignore_merges"] = true;
  const auto with_space = make_tokenizer(files.spec(spaced));
  CHECK(ids_of(*with_space, "ab  ab") == Ids{256, ' ', 257});
  CHECK(with_space->decode(Ids{256, 261, 256}) == "ab ab");

  json["normalizer"] = nullptr;
  json["post_processor"] = template_processing({"<|im_start|>"}, {"<|endoftext|>"});
  const auto other = make_tokenizer(files.spec(json));
  CHECK(ids_of(*other, "e\u0301") == Ids{'e', 0xCC, 0x81});
  CHECK(other->document_start() == Ids{259});
  CHECK(other->hash() != tokenizer->hash());

  json["model"]["merges"] =
      Json::array({Json::array({"a", "b"})});  // as newer files have them; " ab" is a token, but no merge makes it
  CHECK(ids_of(*make_tokenizer(files.spec(json)), " ab") == Ids{' ', 256});
  json["model"]["ignore_merges"] = true;
  CHECK(ids_of(*make_tokenizer(files.spec(json)), " ab") == Ids{257});
  json["post_processor"] = nullptr;
  CHECK(make_tokenizer(files.spec(json) + ":<|im_start|>")->end_of_text() == 259);
  CHECK_THAT(refusal([&] { make_tokenizer(files.spec(json) + ":<think>"); }), ContainsSubstring("no special token"));
}

TEST_CASE("tokenizer.json: what cannot be honoured is refused by name", "[io]") {
  Files files;
  const auto refused = [&](const char* path, const Json& value, const char* what) {
    CAPTURE(path);
    const auto found = files.refused([&](Json& json) { json[Json::json_pointer(path)] = value; });
    CHECK_THAT(found, ContainsSubstring(what));
    CHECK_THAT(found, ContainsSubstring("tokenizer.json"));
  };
  refused("/truncation", {{"max_length", 512}}, "truncation is {\"max_length\":512}");
  refused("/padding", {{"strategy", "BatchLongest"}}, "padding");
  refused("/normalizer", {{"type", "NFKC"}}, "normalizer is {\"type\":\"NFKC\"}; served is none and NFC");
  refused("/pre_tokenizer", nullptr, "pre_tokenizer is null");
  refused("/pre_tokenizer", {{"type", "Whitespace"}}, "Whitespace");
  refused("/pre_tokenizer/pretokenizers/0/pattern/Regex", "\\w+", "\\\\w+");
  refused("/pre_tokenizer/pretokenizers/0/behavior", "Removed", "Removed");
  refused("/pre_tokenizer/pretokenizers/0/invert", true, "invert is true");
  refused("/pre_tokenizer/pretokenizers/1/use_regex", true, "use_regex");
  refused("/pre_tokenizer/pretokenizers/1/add_prefix_space", true, "add_prefix_space is true");
  refused("/pre_tokenizer/pretokenizers/2", {{"type", "Digits"}}, "pre_tokenizer is {");
  refused("/decoder", {{"type", "WordPiece"}}, "decoder");
  refused("/post_processor", {{"type", "BertProcessing"}}, "BertProcessing");
  refused("/post_processor", template_processing({}, {"<|im_start|>"}), "post_processor");
  refused("/model/type", "Unigram", "model.type is \"Unigram\"");
  refused("/model/dropout", 0.1, "model.dropout is 0.1");
  refused("/model/byte_fallback", true, "model.byte_fallback");
  refused("/model/continuing_subword_prefix", "##", "continuing_subword_prefix");
  refused("/model/end_of_word_suffix", "</w>", "end_of_word_suffix");
  refused("/model/novelty", 1, "\"novelty\", which is not known here");
  refused("/novelty", 1, "\"novelty\", which is not known here");
  refused("/added_tokens/2/lstrip", true, "added token \"<think>\".lstrip");
  refused("/added_tokens/2/single_word", true, "single_word");
  refused("/added_tokens/2/content", "two words", "holds a word and a space");
  refused("/added_tokens/1/content", "a <think>", "holds a word and a space");  // would hide one that text spells
}

TEST_CASE("tokenizer.json: a damaged or hostile structure is refused in one sentence", "[io]") {
  Files files;
  const auto refused = [&](const char* path, const Json& value, const char* what) {
    CAPTURE(path);
    CHECK_THAT(files.refused([&](Json& json) { json[Json::json_pointer(path)] = value; }), ContainsSubstring(what));
  };
  refused("/model", 3, "tokenizer.json");
  refused("/model/vocab", Json::array({1, 2}), "the vocabulary is no object");
  refused("/model/vocab/ab", "x", "no integer");
  refused("/model/vocab/ab", -1, "has the id -1");
  refused("/model/vocab/ab", 1'000'000'000'000, "has the id 1000000000000");
  refused("/model/vocab/ab", 257, "same id, 257");
  refused("/model/vocab", {{"a", 0}, {"b", 1}, {"ab", 2}, {"\u0120", 3}, {"\u0120ab", 4}}, "no token for byte 0");
  refused("/model/merges", 3, "model.merges is no list");
  refused("/model/merges/0", 3, "a merge is 3");
  refused("/model/merges/0", "ab", "\"ab\" is no merge");
  refused("/model/merges/0", Json({"", "ab"}), "needs the token \"\"");  // the only way to a cycle
  refused("/model/merges/0", "x y", "needs the token \"xy\"");
  refused("/model/merges/1", "a b", "twice");
  refused("/added_tokens", 3, "tokenizer.json");
  refused("/added_tokens/0/id", 256, "another opinion");
  refused("/added_tokens/1/id", 258, "twice, or has an id that is taken");
  refused("/added_tokens/1/id", -5, "added token -5");
  refused("/added_tokens/1/id", 100'000'000, "added token 100000000");
  refused("/added_tokens/0/content", "", "added token 258");
  refused("/added_tokens/0/content", "<|end|>", "say after the file which one");
  refused("/added_tokens/0/special", "yes", "tokenizer.json");
  CHECK_THAT(files.refused([](Json& json) { json["model"]["vocab"][std::string(5000, 'x')] = 300; }),
             ContainsSubstring("5000 bytes"));
  CHECK_THAT(files.refused([](Json& json) {
    json["added_tokens"][1]["id"] = 256;
    json["added_tokens"][1]["content"] = "ab";
  }),
             ContainsSubstring("makes token 256, a control token"));
  CHECK_THAT(files.refused([](Json& json) { json.erase("model"); }), ContainsSubstring("tokenizer.json"));
  CHECK_THAT(files.refused([](Json& json) {
    json["post_processor"] = template_processing({"<|im_start|>"}, {});
    json["post_processor"]["special_tokens"]["<|im_start|>"]["ids"] = {999};
  }),
             ContainsSubstring("puts the id 999"));
  const auto raw = [&](const std::string& text) {
    return refusal([&] { make_tokenizer("hf:" + put(files.folder() / "tokenizer.json", text).string()); });
  };
  CHECK_THAT(raw(""), ContainsSubstring("is no tokenizer.json"));
  CHECK_THAT(raw("[]"), ContainsSubstring("an object"));
  CHECK_THAT(raw(std::string(1'000'000, '[')), ContainsSubstring("is no tokenizer.json"));
  CHECK_THAT(raw(tokenizer_json().dump().substr(0, 500)), ContainsSubstring("is no tokenizer.json"));
  CHECK_THAT(raw("\xff\xfe{}"), ContainsSubstring("is no tokenizer.json"));
}

TEST_CASE("gpt2 files: damaged ones are refused with their line", "[io]") {
  const ScratchFolder folder;
  const auto attempt = [&](const std::string& merges, Json vocabulary) {
    put(folder / "vocab.bpe", merges);
    put(folder / "encoder.json", vocabulary.dump());
    return refusal([&] { make_tokenizer("gpt2:" + folder.path().string()); });
  };
  CHECK_THAT(refusal([&] { make_tokenizer("gpt2:" + folder.path().string()); }), ContainsSubstring("does not hold"));
  Json vocabulary = alphabet();
  vocabulary["ab"] = 256;
  CHECK_THAT(attempt("#version: 0.2\na b\n", vocabulary), ContainsSubstring("lacks <|endoftext|>"));
  vocabulary["<|endoftext|>"] = 257;
  CHECK(attempt("#version: 0.2\na b\n", vocabulary) == "nothing was refused");
  CHECK_THAT(attempt("#version: 0.2\na b\nb a\n", vocabulary), ContainsSubstring("vocab.bpe:3: merge 1, \"b a\""));
  CHECK_THAT(attempt("#version: 0.2\nab\n", vocabulary), ContainsSubstring("vocab.bpe:2: \"ab\" is no merge"));
}

TEST_CASE("tiktoken files: ranks, patterns and damaged lines", "[io]") {
  const ScratchFolder folder;
  const auto base64_of_byte = [](int byte) {
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return std::string{digits[byte >> 2], digits[byte << 4 & 63], '=', '='};
  };
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += base64_of_byte(byte) + " " + std::to_string(byte) + "\n";
  const auto spec = [&](const std::string& more) {
    return "tiktoken:" + put(folder / "x.tiktoken", bytes + more).string();
  };
  const auto tokenizer = make_tokenizer(spec("YWI= 256\nYWJj 257\n") + ":llama3");  // "ab", "abc"
  CHECK(ids_of(*tokenizer, "abc ab") == Ids{257, ' ', 256});
  CHECK((tokenizer->document_start() == Ids{258} && tokenizer->end_of_text() == 259 && tokenizer->vocabulary() == 260));
  CHECK(make_tokenizer(spec("") + ":cl100k")->end_of_text() == 256);
  const auto refused = [&](const std::string& more, const char* pattern) {
    return refusal([&] { make_tokenizer(spec(more) + pattern); });
  };
  CHECK_THAT(refused("", ""), ContainsSubstring("has 256 ranks"));
  CHECK_THAT(refused("", ":qwen2"), ContainsSubstring("not \"qwen2\""));
  CHECK_THAT(refused("YWI 256\n", ":gpt2"), ContainsSubstring("x.tiktoken:257: \"YWI 256\" is no base64"));
  CHECK_THAT(refused("YW*= 256\n", ":gpt2"), ContainsSubstring(":257"));
  CHECK_THAT(refused("YWI=\n", ":gpt2"), ContainsSubstring(":257"));
  CHECK_THAT(refused("YWI= 256 7\n", ":gpt2"), ContainsSubstring(":257"));
  CHECK_THAT(refused("YWI= -1\n", ":gpt2"), ContainsSubstring("has the id -1"));
  CHECK_THAT(refused("YWI= 255\n", ":gpt2"), ContainsSubstring("same id, 255"));
  CHECK_THAT(refused("YWI= 9999999999\n", ":gpt2"), ContainsSubstring("has the id 9999999999"));
  CHECK_THAT(refused("YQ== 256\n", ":gpt2"), ContainsSubstring("has two ids"));
}

TEST_CASE("tokenizers: specs that name none are refused", "[io]") {
  for (const char* spec : {"", "gpt2", "gpt2:", "bpe:x", "hf", "tiktoken:"})
    CHECK_THAT(refusal([&] { make_tokenizer(spec); }), ContainsSubstring("there is no tokenizer"));
  for (const char* spec : {"hf:/nowhere/at.all", "tiktoken:/nowhere/at.all"})
    CHECK_THAT(refusal([&] { make_tokenizer(spec); }), ContainsSubstring("No such file"));
}

TEST_CASE("tokenizers: any bytes come back, and cut text has the ids of the whole", "[io]") {
  Files files;
  Json json = tokenizer_json();
  json["normalizer"] = nullptr;
  const auto tokenizer = make_tokenizer(files.spec(json));
  std::mt19937_64 draw(11);
  const std::vector<std::string> parts{"ab",  " ab", "a",      "\n",   "  ",       "<think>",
                                       "<th", "1",   "\u00e9", "\xff", "\xe2\x80", "!"};
  int cut = 0;
  for (int n = 0; n < 5000; ++n) {
    std::string text;
    for (auto count = draw() % 40; count > 0; --count) text += parts[draw() % parts.size()];
    const Ids whole = ids_of(*tokenizer, text);
    if (tokenizer->decode(whole) != text) FAIL("run " << n);
    const std::size_t at = tokenizer->last_cut(text.substr(0, text.size() / 2));
    cut += at > 0;
    Ids both = ids_of(*tokenizer, text.substr(0, at));
    tokenizer->encode(text.substr(at), both);
    if (both != whole) FAIL("run " << n << ", cut at " << at);
  }
  CHECK(cut > 3000);
}
