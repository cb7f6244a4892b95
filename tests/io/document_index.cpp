#include "io/document_index.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/error.hpp"
#include "io/token_files.hpp"
#include "io/token_shards.hpp"

using namespace annulus;
using namespace annulus::io;
using namespace annulus::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using Words = std::vector<std::uint64_t>;

/// Documents of 3, 1, 5 and 2 tokens, each closed by 256, and one that is not closed.
const Ids ids{1, 2, 256, 256, 3, 4, 5, 6, 256, 7, 256, 8, 9};

void write(const ScratchFolder& folder, index_t shard_tokens) {
  ShardWriter writer(folder.path(), "train", 257, 256, shard_tokens);
  const int cut = GENERATE(0, 1, 6, 13);  // what is appended together does not matter
  writer.append(std::span(ids).first(cut));
  writer.append(std::span(ids).subspan(cut));
  writer.finish();
  put_record(folder.path(), 257, 256, int(writer.shards()));
}

}  // namespace

TEST_CASE("document index: the writer of shards leaves one beside each, by the definition", "[io]") {
  const ScratchFolder folder;
  write(folder, 100);
  const auto index = read_document_index(folder / "train_shard_00000.bin", 13);
  REQUIRE(index);
  CHECK(index->offsets == Words{0, 3, 4, 9, 11, 13});
  CHECK(index->numbers == Words{0, 1, 2, 3, 4});
  const std::string bytes = content(folder / "train_shard_00000.idx");
  CHECK(bytes.size() == 1024 + 11 * 8);
  CHECK(bytes.substr(0, 24) ==
        little_endian(20261201, 4) + little_endian(1, 4) + little_endian(5, 8) + little_endian(13, 8));
  CHECK(bytes.substr(1024, 16) == little_endian(0, 8) + little_endian(3, 8));
  CHECK_NOTHROW(TokenStream(folder.path(), "train").check());
}

TEST_CASE("document index: a document that is cut by the end of a shard goes on under its number", "[io]") {
  const ScratchFolder folder;
  write(folder, 6);
  const auto index = [&](int n, index_t tokens) {
    return *read_document_index(folder / shard_name("train", n), tokens);
  };
  CHECK(index(0, 6).offsets == Words{0, 3, 4, 6});
  CHECK(index(0, 6).numbers == Words{0, 1, 2});
  CHECK(index(1, 6).offsets == Words{0, 3, 5, 6});
  CHECK(index(1, 6).numbers == Words{2, 3, 4});
  CHECK(index(2, 1).offsets == Words{0, 1});
  CHECK(index(2, 1).numbers == Words{4});
  CHECK_NOTHROW(TokenStream(folder.path(), "train").check());
  CHECK_NOTHROW(TokenStream(folder / shard_name("train", 1), "train").check());
}

TEST_CASE("document index: shards without one are data all the same", "[io]") {
  const ScratchFolder folder;
  put(folder / "train_shard_00000.bin", shard_bytes(ids));
  CHECK_FALSE(read_document_index(folder / "train_shard_00000.bin", 13));
  CHECK_NOTHROW(TokenStream(folder.path(), "train").check());
}

TEST_CASE("document index: a damaged or foreign one is refused by name", "[io]") {
  const ScratchFolder folder;
  write(folder, 100);
  const auto file = folder / "train_shard_00000.idx";
  const std::string whole = content(file);
  const auto flipped = [&](std::size_t at) {
    std::string bytes = whole;
    bytes[at] = char(bytes[at] ^ 1);
    return bytes;
  };
  const auto [bytes, reason] = GENERATE_COPY(table<std::string, std::string>({
      {"", "has 0 bytes, fewer than the header"},
      {whole.substr(0, 1023), "has 1023 bytes"},
      {whole.substr(0, whole.size() - 8), "which are not those of the 5 documents"},
      {whole + std::string(16, '\0'), "which are not those of the 5 documents"},
      {whole.substr(0, 8) + little_endian(std::uint64_t(-1), 8) + whole.substr(16), "which are not those of the 184"},
      {flipped(0), "is no document index: it begins with 20261200"},
      {flipped(4), "version 0"},
      {flipped(16), "is damaged"},
      {flipped(24), "is damaged"},
      {flipped(1032), "is damaged"},
      {flipped(whole.size() - 8), "is damaged"},
  }));
  put(file, bytes);
  const auto read = [&] { read_document_index(folder / "train_shard_00000.bin", 13); };
  CHECK_THAT(refusal(read), ContainsSubstring(reason) && ContainsSubstring(file.string()));
  CHECK_THROWS_AS(read(), Refused);
}

TEST_CASE("document index: one that does not fit its shard is refused", "[io]") {
  const ScratchFolder folder;
  const auto shard = folder / "train_shard_00000.bin";
  put(shard, shard_bytes(ids));
  const auto check = [&](const DocumentIndex& index) {
    write_document_index(shard, index);
    return refusal([&] { TokenStream(folder.path(), "train").check(); });
  };
  put_record(folder.path(), 257, 256, 1);
  CHECK(check({{0, 3, 4, 9, 11, 13}, {0, 1, 2, 3, 4}}) == "nothing was refused");
  CHECK_THAT(check({{0, 3, 4, 9, 11, 12}, {0, 1, 2, 3, 4}}),
             ContainsSubstring("speaks of 12 tokens, and the shard beside it has 13"));
  CHECK_THAT(check({{0, 3, 9, 11, 13}, {0, 1, 2, 3}}), ContainsSubstring("a document begins at token 4"));
  CHECK_THAT(check({{0, 2, 3, 4, 9, 11, 13}, {0, 1, 2, 3, 4, 5}}), ContainsSubstring("a document goes on at token 2"));
}
