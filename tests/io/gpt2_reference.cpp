/// GPT-2's vocabulary, from beside the repository, against published ids and against those of `tokenizers` 0.23.3.
#include <catch2/catch_test_macros.hpp>
#include <random>

#include "io/hash.hpp"
#include "io/token_files.hpp"
#include "io/tokenizer.hpp"
#include "support/shared_data.hpp"

using namespace annulus;
using namespace annulus::io;
using namespace annulus::test;

namespace {

std::unique_ptr<Tokenizer> gpt2() {
  return make_tokenizer("gpt2:" + shared_data("data/gpt2-vocab.bpe").parent_path().string());
}

Ids ids_of(const Tokenizer& tokenizer, const std::string& text) {
  Ids ids;
  tokenizer.encode(text, ids);
  return ids;
}

}  // namespace

TEST_CASE("gpt2: published ids", "[io]") {
  const auto tokenizer = gpt2();
  const std::pair<std::string, Ids> vectors[] = {
      {"Hello world", {15496, 995}},
      {"  leading two spaces", {220, 3756, 734, 9029}},
      {"a\n\n\nb", {64, 628, 198, 65}},
      {"trailing  ", {9535, 4386, 220, 220}},
      {"I'll don't we've", {40, 1183, 836, 470, 356, 1053}},
      {"na\u00efve caf\u00e9 \u6771\u4eac \U0001F642", {2616, 38776, 40304, 10545, 251, 109, 12859, 105, 32485}},
      {"1234567890 3.14159", {10163, 2231, 30924, 3829, 513, 13, 1415, 19707}},
      {"\t\tx = 1;\r\n", {197, 197, 87, 796, 352, 26, 201, 198}},
      {"x\u00a0y", {87, 1849, 88}},
      {"\u2028z", {447, 101, 89}},
      {"'S 'LL", {6, 50, 705, 3069}},
      {"   ", {220, 220, 220}},
      {"foo   bar", {21943, 220, 220, 2318}},
      {"<|endoftext|>", {27, 91, 437, 1659, 5239, 91, 29}},  // text, not the token that it spells
  };
  for (const auto& [text, ids] : vectors) {
    CAPTURE(text);
    CHECK(ids_of(*tokenizer, text) == ids);
    CHECK(tokenizer->decode(ids) == text);
  }
  CHECK((tokenizer->vocabulary() == 50257 && tokenizer->end_of_text() == 50256));
  CHECK(tokenizer->decode(Ids{15496, 50256}) == "Hello");
}

// XXH64 over the ids as int32, little-endian:
//   tokenizer_reference.py --hashes prints them from the ids of `tokenizers`
TEST_CASE("gpt2: whole texts have the reference's ids", "[io]") {
  const auto tokenizer = gpt2();
  const struct {
    const char* file;
    std::size_t count;
    const char* hash;
  } texts[] = {
      {"README.md", 164, "e95404d1f72a9235"},
      {"gpt2-encoder.json", 443452, "f7d307dace556722"},
      {"gpt2-vocab.bpe", 246078, "1392458fdaa94723"},
      {"moby-dick.txt", 342833, "9cac8ca671d1b50e"},
      {"tinyshakespeare.txt", 338025, "77e4ee5a75962217"},
      {"war-and-peace.txt", 798856, "cba377b947a13bba"},
  };
  for (const auto& [file, count, hash] : texts) {
    CAPTURE(file);
    const std::string text = content(shared_data(std::string("data/") + file));
    const Ids ids = ids_of(*tokenizer, text);
    CHECK(ids.size() == count);
    ByteHash found;
    found.add(std::as_bytes(std::span(ids)));
    CHECK(found.text() == hash);
    CHECK(tokenizer->decode(ids) == text);
  }
}

TEST_CASE("gpt2: any bytes come back", "[io]") {
  const auto tokenizer = gpt2();
  std::mt19937_64 draw(5);
  for (int n = 0; n < 2000; ++n) {
    std::string text;
    for (auto count = draw() % 100; count > 0; --count) text += static_cast<char>(draw());
    if (tokenizer->decode(ids_of(*tokenizer, text)) != text) FAIL("run " << n);
  }
}
