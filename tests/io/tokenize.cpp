#include "io/tokenize.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <map>

#include "core/error.hpp"
#include "io/small_vocabulary.hpp"
#include "io/text_split.hpp"
#include "io/token_shards.hpp"
#include "io/tokenizer_record.hpp"

using namespace annulus;
using namespace annulus::io;
using namespace annulus::test;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string every_byte() {
  std::string bytes;
  for (int b = 0; b < 256; ++b) bytes.push_back(static_cast<char>(b));
  return bytes;
}

/// Lines of 1 to 80 letters of one kind.
std::string lines(char letter, std::size_t bytes) {
  std::string out;
  for (std::size_t n = 1; out.size() < bytes; ++n) out += std::string(n * 37 % 80 + 1, letter) + "\n";
  out.resize(bytes);
  return out;
}

struct Stretch {
  std::string text;
  bool validates;
};

/// Of a file that is looked at through windows of `window` bytes.
std::vector<Stretch> stretches(TextSplit& split, std::string_view file, std::size_t window = std::string::npos) {
  std::vector<Stretch> found;
  for (bool ended = true; !file.empty();) {
    const auto part = split.next(file.substr(0, window), file.size() <= window);
    if (ended) found.push_back({"", part.validates});
    found.back().text += part.text;
    CHECK(found.back().validates == part.validates);
    ended = part.ends;
    file.remove_prefix(part.text.size());
  }
  return found;
}

Ids ids_of(const std::filesystem::path& folder, const char* split) {
  const TokenStream stream(folder, split);
  Ids ids(stream.tokens());
  stream.read(0, ids);
  return ids;
}

void silent(index_t, index_t) {}

}  // namespace

TEST_CASE("byte tokenizer: any bytes come back exactly", "[io]") {
  const auto tokenizer = make_tokenizer("byte");
  for (const std::string& text : {std::string(), every_byte(), std::string("na\xc3\xafve \xff\xfe\0\r\n", 11)}) {
    Ids ids{7};
    tokenizer->encode(text, ids);
    REQUIRE(ids.size() == text.size() + 1);
    CHECK(tokenizer->decode(std::span(ids).subspan(1)) == text);
  }
  CHECK((tokenizer->vocabulary() == 257 && tokenizer->end_of_text() == 256));
  CHECK(tokenizer->decode(Ids{72, 256, 105}) == "Hi");
  CHECK_THROWS_AS(tokenizer->decode(Ids{257}), Refused);
  CHECK_THROWS_AS(tokenizer->decode(Ids{-1}), Refused);
  CHECK_THAT(refusal([] { make_tokenizer("gpt2"); }), ContainsSubstring("\"gpt2\""));
}

TEST_CASE("text split: every byte falls to one side, in order, and the sides have the share that was asked for",
          "[io]") {
  const double fraction = GENERATE(0.0, 0.01, 0.1, 0.5);
  const std::size_t bytes = GENERATE(1u, 17u, 5'000u, 2'000'003u);
  const std::vector<std::string> files{lines('a', bytes), "", lines('b', bytes / 3 + 1), std::string(bytes, 'c')};
  index_t total = 0, validates = 0;
  for (const auto& file : files) total += index_t(file.size());
  TextSplit split(total, fraction);
  for (const auto& file : files) {
    std::string whole;
    for (const auto& [text, validation] : stretches(split, file)) {
      CHECK(!text.empty());
      whole += text;
      validates += validation ? index_t(text.size()) : 0;
    }
    CHECK(whole == file);
  }
  if (fraction == 0) CHECK(validates == 0);
  // A stretch gains or loses less than half its length at each cut, and one may be missing at the end.
  if (bytes > 1000)
    CHECK(std::abs(static_cast<double>(validates) - fraction * static_cast<double>(total)) <=
          fraction * static_cast<double>(total) / 8 + 65536);
}

TEST_CASE("text split: stretches do not depend on how much of a file is seen at a time", "[io]") {
  const double fraction = GENERATE(0.0, 0.01, 0.1, 0.5);
  std::string file = lines('a', 100'000);
  for (std::size_t n = 0; file.size() < 500'000; ++n) file += std::string(n * 1237 % 5000, 'b') + "\n";
  TextSplit whole(index_t(file.size()), fraction);
  const auto expected = stretches(whole, file);
  for (const std::size_t window : {4097u, 5000u, 65536u, 300'000u}) {
    TextSplit split(index_t(file.size()), fraction);
    const auto found = stretches(split, file, window);
    REQUIRE(found.size() == expected.size());
    for (std::size_t n = 0; n < found.size(); ++n)
      CHECK((found[n].text == expected[n].text && found[n].validates == expected[n].validates));
  }
}

TEST_CASE("text split: both sides have the mix of the whole", "[io]") {
  const std::size_t bytes = 1'000'000;
  const std::vector<std::string> files{lines('a', bytes), lines('b', bytes), lines('c', 2 * bytes)};
  TextSplit split(4 * bytes, 0.1);
  for (const auto& file : files) {
    std::size_t validates = 0;
    const auto found = stretches(split, file);
    for (const auto& [text, validation] : found) {
      validates += validation ? text.size() : 0;
      CHECK((text.back() == '\n' || &text == &found.back().text));
    }
    CHECK(validates > file.size() / 20);
    CHECK(validates < file.size() / 5);
  }
}

TEST_CASE("tokenize: text comes back from the shards, each stretch closed by end-of-text", "[io]") {
  const ScratchFolder folder;
  const std::vector<std::filesystem::path> files{put(folder / "a", lines('a', 40'000) + every_byte()),
                                                 put(folder / "empty", ""), put(folder / "b", lines('b', 9'000))};
  std::vector<index_t> heard;
  const auto summary = tokenize(files, folder / "shards/", *make_tokenizer("byte"), {.shard_tokens = 10'000},
                                [&](index_t done, index_t total) {
                                  CHECK(total == 49'256);
                                  heard.push_back(done);
                                });
  CHECK(heard == std::vector<index_t>{40'256, 40'256, 49'256});
  const auto train = ids_of(folder / "shards", "train"), validation = ids_of(folder / "shards", "val");
  CHECK((index_t(train.size()) == summary.train_tokens && index_t(validation.size()) == summary.validation_tokens));
  CHECK((summary.train_shards == 5 && summary.validation_shards == 1 && summary.bytes == 49'256));

  std::map<std::int32_t, index_t> counts;
  for (const Ids* ids : {&train, &validation}) {
    CHECK(ids->back() == 256);
    for (const auto id : *ids) ++counts[id];
  }
  index_t text = 0;
  for (const auto& [id, count] : counts) text += id == 256 ? 0 : count;
  CHECK(text == 49'256);
  CHECK(counts[0] == 1);  // one of every_byte()

  // The stretches by their definition, from the other side.
  TextSplit split(49'256, 0.1);
  Ids expected;
  for (const auto& file : files) {
    const std::string bytes = content(file);
    for (const auto& stretch : stretches(split, bytes)) {
      if (stretch.validates) continue;
      for (const char c : stretch.text) expected.push_back(static_cast<unsigned char>(c));
      expected.push_back(256);
    }
  }
  CHECK(train == expected);

  const auto record = read_tokenizer_record(folder / "shards");
  REQUIRE(record);
  CHECK((record->name == "byte" && record->vocabulary == 257 && record->train_shards == 5));
  CHECK(tokenizer_of(*record)->hash() == record->hash);
  auto other = *record;
  other.hash = "0000000000000000";
  CHECK_THROWS_AS(tokenizer_of(other), Refused);
}

TEST_CASE("tokenizer record: a checkpoint's text comes back, and stands for one tokenizer only", "[io]") {
  const auto byte = tokenizer_record("byte");  // as the first checkpoints have it
  CHECK((byte.name == "byte" && byte.vocabulary == 257 && byte.end_of_text == 256));
  const auto again = tokenizer_record(text_of(byte));
  CHECK((again.name == byte.name && again.hash == byte.hash && again.end_of_text == 256));
  CHECK(text_of(tokenizer_record("")).empty());
  CHECK_THAT(refusal([] { tokenizer_record("{\"name\": 3}"); }), ContainsSubstring("tokenizer is damaged"));

  CHECK_NOTHROW(refuse_mixed(byte, "a", again, "b"));
  auto other = byte;
  other.hash = "0000000000000000";
  CHECK_THAT(refusal([&] { refuse_mixed(byte, "data.train", other, "data.validation"); }),
             ContainsSubstring("two tokenizers are mixed: data.train has that of byte"));
  other.hash.clear();  // shards without a record
  CHECK_NOTHROW(refuse_mixed(byte, "a", other, "b"));
  other.end_of_text = 0;
  CHECK_THAT(refusal([&] { refuse_mixed(byte, "a", other, "b"); }), ContainsSubstring("0 ends a text"));

  CHECK_THAT(refusal([] { tokenizer_of({}); }), ContainsSubstring("--tokenizer says it"));
  CHECK(tokenizer_of({}, "byte")->vocabulary() == 257);
  other = byte;
  other.name = "hf:/moved/away.json";
  CHECK_THAT(refusal([&] { tokenizer_of(other); }), ContainsSubstring("No such file"));
  CHECK(tokenizer_of(other, "byte")->vocabulary() == 257);
  other.hash = "0000000000000000";
  CHECK_THAT(refusal([&] { tokenizer_of(other, "byte"); }), ContainsSubstring("it has the hash"));
}

TEST_CASE("tokenize: a document begins and ends as its tokenizer says", "[io]") {
  const ScratchFolder folder;
  Json json = tokenizer_json();
  json["post_processor"] = template_processing({"<|im_start|>"}, {});
  const auto tokenizer = make_tokenizer(spec_of(folder, json));
  tokenize({put(folder / "a", "ab\n"), put(folder / "b", "b")}, folder / "shards", *tokenizer,
           {.validation_fraction = 0, .threads = 2}, silent);
  CHECK(ids_of(folder / "shards", "train") == Ids{259, 256, 10, 258, 259, 'b', 258});
  const TokenStream stream(folder / "shards", "train");
  CHECK((stream.tokenizer().hash == tokenizer->hash() && stream.vocabulary() == 261 && stream.end_of_text() == 258));
}

TEST_CASE("tokenize: what cannot become shards is refused, and leaves nothing", "[io]") {
  const ScratchFolder folder;
  const auto tokenizer = make_tokenizer("byte");
  const auto run = [&](const std::vector<std::filesystem::path>& files, double fraction = 0.1) {
    return refusal([&] { tokenize(files, folder / "shards", *tokenizer, {.validation_fraction = fraction}, silent); });
  };
  const auto text = put(folder / "text", lines('a', 1000)), empty = put(folder / "empty", "");
  CHECK_THAT(run({empty, empty}), ContainsSubstring("there is no text: 2 files with 0 bytes"));
  CHECK_THAT(run({}), ContainsSubstring("0 files"));
  CHECK_THAT(run({text, folder / "absent"}), ContainsSubstring("absent: No such file"));
  CHECK_THAT(run({folder.path()}), ContainsSubstring("is not a file"));
  CHECK_THAT(run({put(folder / "short", "abc")}), ContainsSubstring("3 bytes is too short"));
  CHECK_THAT(run({text}, 0.6), ContainsSubstring("0.6"));
  for (const index_t tokens : {index_t(0), index_t(1) << 31})
    CHECK_THAT(refusal([&] { tokenize({text}, folder / "shards", *tokenizer, {.shard_tokens = tokens}, silent); }),
               ContainsSubstring("header counts up to 2147483647"));
  CHECK(!std::filesystem::exists(folder / "shards"));

  CHECK(run({text}) == "nothing was refused");
  const auto before = content(folder / "shards/train_shard_00000.bin");
  CHECK_THAT(run({text}), ContainsSubstring("exists and is not empty"));
  CHECK(content(folder / "shards/train_shard_00000.bin") == before);
}

TEST_CASE("tokenize: what a killed run left is no part of the next one's shards", "[io]") {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "shards.partial");
  put(folder / "shards.partial/train_shard_00009.bin", shard_bytes({1}));
  const auto text = put(folder / "text", lines('a', 10'000));
  tokenize({text}, folder / "shards", *make_tokenizer("byte"), {}, silent);
  CHECK(!std::filesystem::exists(folder / "shards.partial"));
  CHECK(!std::filesystem::exists(folder / "shards/train_shard_00009.bin"));
  CHECK_NOTHROW(TokenStream(folder / "shards", "train").check());
}
