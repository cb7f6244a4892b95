#include "io/token_shards.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/error.hpp"
#include "io/token_files.hpp"

using namespace annulus;
using namespace annulus::io;
using namespace annulus::test;
using Catch::Matchers::ContainsSubstring;

namespace {

Ids all_of(const TokenStream& stream) {
  Ids ids(stream.tokens());
  stream.read(0, ids);
  return ids;
}

Ids some_ids(index_t count, std::int32_t below) {
  Ids ids(count);
  for (index_t n = 0; n < count; ++n) ids[n] = static_cast<std::int32_t>((n * 7919 + 13) % below);
  return ids;
}

}  // namespace

TEST_CASE("token shards: what the writer leaves is llm.c's format, byte by byte", "[io]") {
  const ScratchFolder folder;
  const bool wide = GENERATE(false, true);
  const Ids ids = some_ids(1000, wide ? 128256 : 50257);
  ShardWriter writer(folder.path(), "train", wide ? 128256 : 50257, 50256, 400);
  for (const auto& [first, count] : {std::pair{0, 1}, {1, 0}, {1, 850}, {851, 149}})
    writer.append(std::span(ids).subspan(first, count));
  writer.finish();
  CHECK((writer.shards() == 3 && writer.tokens() == 1000));
  for (int s = 0; s < 3; ++s) {
    const Ids part(ids.begin() + 400 * s, ids.begin() + std::min(400 * (s + 1), 1000));
    CHECK(content(folder / shard_name("train", s)) == shard_bytes(part, wide));
  }
  CHECK(all_of(TokenStream(folder.path(), "train")) == ids);
}

TEST_CASE("token shards: any stretch of the stream reads the same across shard edges", "[io]") {
  const ScratchFolder folder;
  const Ids ids = some_ids(30, 257);
  put(folder / "val_shard_00000.bin", shard_bytes({ids.begin(), ids.begin() + 7}));
  put(folder / "val_shard_00001.bin", shard_bytes({}));
  put(folder / "val_shard_00002.bin", shard_bytes({ids.begin() + 7, ids.begin() + 8}));
  put(folder / "val_shard_00003.bin", shard_bytes({ids.begin() + 8, ids.end()}));
  const TokenStream stream(folder.path(), "val");
  REQUIRE(stream.tokens() == 30);
  for (index_t first = 0; first <= 30; ++first)
    for (index_t count = 0; first + count <= 30; ++count) {
      Ids found(count, -1);
      stream.read(first, found);
      CHECK(found == Ids(ids.begin() + first, ids.begin() + first + count));
    }
}

TEST_CASE("token shards: what their ids mean comes from the record beside them, else from llm.c", "[io]") {
  const ScratchFolder folder;
  const auto shard = put(folder / "train_shard_00000.bin", shard_bytes({1, 2, 3}));
  CHECK((TokenStream(shard, "train").vocabulary() == 50257 && TokenStream(shard, "train").end_of_text() == 50256));
  put(shard, shard_bytes({1, 2, 3}, true));
  CHECK((TokenStream(shard, "train").vocabulary() == 128256 && TokenStream(shard, "train").end_of_text() == 128000));
  put_record(folder.path(), 257, 256, 1);
  CHECK((TokenStream(shard, "train").vocabulary() == 257 && TokenStream(shard, "train").end_of_text() == 256));
}

TEST_CASE("token shards: a damaged, foreign, short or missing one is refused by name", "[io]") {
  const ScratchFolder folder;
  const std::string whole = shard_bytes(some_ids(100, 257));
  const auto shard = folder / "train_shard_00000.bin";
  const auto open = [&] { TokenStream(folder.path(), "train"); };

  CHECK_THAT(refusal(open), ContainsSubstring("train_shard_00000.bin"));
  CHECK_THROWS_AS(open(), Refused);

  const auto [bytes, reason] = GENERATE_COPY(table<std::string, std::string>({
      {"", "has 0 bytes, fewer than the header"},
      {whole.substr(0, 1023), "has 1023 bytes"},
      {whole.substr(0, whole.size() - 1), "has 1223 bytes, but its header promises 100 tokens, 1224 bytes"},
      {whole + "x", "has 1225 bytes"},
      {little_endian(20240521, 4) + whole.substr(4), "begins with 20240521, version 1"},
      {whole.substr(0, 4) + little_endian(2, 4) + whole.substr(8), "begins with 20240520, version 2"},
      {whole.substr(0, 8) + little_endian(0xffffffff, 4) + whole.substr(12), "promises -1 tokens"},
  }));
  put(shard, bytes);
  CHECK_THAT(refusal(open), ContainsSubstring(reason) && ContainsSubstring(shard.string()));
  CHECK_THROWS_AS(open(), Refused);
}

TEST_CASE("token shards: a gap in their numbers, or fewer than the record says, is refused", "[io]") {
  const ScratchFolder folder;
  const auto open = [&] { TokenStream(folder.path(), "train"); };
  for (const int s : {0, 2}) put(folder / shard_name("train", s), shard_bytes({1, 2, 3}));
  CHECK_THAT(refusal(open), ContainsSubstring("train_shard_00001.bin"));

  put(folder / shard_name("train", 1), shard_bytes({1, 2, 3}));
  CHECK_NOTHROW(open());
  put_record(folder.path(), 257, 256, 4);
  CHECK_THAT(refusal(open), ContainsSubstring("train_shard_00003.bin"));
  put_record(folder.path(), 257, 256, 2);
  CHECK_THAT(refusal(open), ContainsSubstring("holds 3 train shards, but its tokenizer.json speaks of 2"));
  put_record(folder.path(), 257, 257, 3);
  CHECK_THAT(refusal(open), ContainsSubstring("end-of-text id outside its vocabulary"));
  put(folder / "tokenizer.json", "{\"name\": 3");
  CHECK_THAT(refusal(open), ContainsSubstring("is no tokenizer record"));
}

TEST_CASE("token shards: an id above the vocabulary is refused with its file and place", "[io]") {
  const ScratchFolder folder;
  put_record(folder.path(), 257, 256, 2);
  put(folder / shard_name("train", 0), shard_bytes(Ids(100, 256)));
  Ids ids(50, 5);
  ids[37] = 257;
  put(folder / shard_name("train", 1), shard_bytes(ids));
  const TokenStream stream(folder.path(), "train");
  Ids out(20);
  stream.read(117, out);  // up to the one before it
  CHECK_THAT(refusal([&] { stream.read(118, out); }),
             ContainsSubstring("train_shard_00001.bin: token 37 is 257, but the vocabulary has 257 ids, 0 to 256"));
  CHECK_THAT(refusal([&] { stream.check(); }), ContainsSubstring("train_shard_00001.bin: token 37"));
  put(folder / shard_name("train", 1), shard_bytes(Ids(50, 5)));
  CHECK_NOTHROW(TokenStream(folder.path(), "train").check());
}

TEST_CASE("token shards: the largest uint32 id is above every vocabulary, not negative", "[io]") {
  const ScratchFolder folder;
  put(folder / shard_name("train", 0), shard_bytes({1, -1}, true));
  CHECK_THAT(refusal([&] { TokenStream(folder.path(), "train").check(); }), ContainsSubstring("token 1 is 4294967295"));
}

TEST_CASE("token shards: the fingerprint follows the data, not where they lie", "[io]") {
  const ScratchFolder folder, elsewhere;
  Ids ids = some_ids(1'000'000, 257);
  const auto fingerprint = [](const std::filesystem::path& path, const Ids& first, const Ids& second) {
    put(path / shard_name("train", 0), shard_bytes(first));
    put(path / shard_name("train", 1), shard_bytes(second));
    return TokenStream(path, "train").fingerprint();
  };
  const std::string original = fingerprint(folder.path(), ids, {1, 2, 3});
  CHECK(original.size() == 16);
  CHECK(fingerprint(elsewhere.path(), ids, {1, 2, 3}) == original);
  CHECK(fingerprint(folder.path(), ids, {1, 2, 4}) != original);
  CHECK(fingerprint(folder.path(), {1, 2, 3}, ids) != original);
  Ids shifted(ids.begin() + 1, ids.end());
  shifted.push_back(0);
  CHECK(fingerprint(folder.path(), shifted, {1, 2, 3}) != original);
  ids.back() += 1;
  CHECK(fingerprint(folder.path(), ids, {1, 2, 3}) != original);
}
