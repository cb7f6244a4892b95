#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/error.hpp"
#include "io/loader.hpp"
#include "io/token_files.hpp"
#include "io/token_shards.hpp"

using namespace annulus;
using namespace annulus::io;
using namespace annulus::test;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::int32_t end_of_text = 256;

/// A stream in which no two windows are alike: a counter in base 16, its places told apart by the high digit, with
/// end-of-text strewn in.
Ids stream_of(index_t count) {
  Ids ids(count);
  for (index_t n = 0; n < count; ++n) {
    const index_t digit = n % 4;
    ids[n] = n % 11 == 10 ? end_of_text : static_cast<std::int32_t>(16 * digit + (n / 4 >> (4 * digit)) % 16);
  }
  return ids;
}

struct Corpus {
  ScratchFolder folder;
  Ids ids;
  explicit Corpus(index_t count) : ids(stream_of(count)) {
    put(folder / shard_name("train", 0), shard_bytes({ids.begin(), ids.begin() + count / 3}));
    put(folder / shard_name("train", 1), shard_bytes({ids.begin() + count / 3, ids.end()}));
    put_record(folder.path(), 257, end_of_text, 2);
  }
  std::unique_ptr<Loader> loader(index_t length, const std::string& pack = "contiguous", bool shuffle = true,
                                 std::uint64_t seed = 3) const {
    DataKeys keys;
    keys.sequence_length = length;
    keys.pack = pack;
    return shard_loader(folder.path().string(), "train", keys, {}, seed, shuffle);
  }
};

}  // namespace

TEST_CASE("loader: unshuffled windows follow each other and share one token", "[io]") {
  const Corpus corpus(1000);
  const auto loader = corpus.loader(97, "contiguous", false);
  REQUIRE(loader->samples_per_epoch() == 10);  // (1000 - 1) / 97
  CHECK(loader->vocabulary() == 257);
  for (const index_t g : {0, 4, 9, 10, 37}) {
    const auto begin = corpus.ids.begin() + g % 10 * 97;
    const auto sample = loader->sample(g);
    CHECK(sample.tokens == Ids(begin, begin + 98));
    CHECK(sample.document_begins == std::vector<index_t>{0});
    CHECK(loader->valid_tokens(g) == 97);
  }
}

TEST_CASE("loader: an epoch holds every window once, in an order of its own", "[io]") {
  const Corpus corpus(4000);
  const auto loader = corpus.loader(13), plain = corpus.loader(13, "contiguous", false);
  const index_t samples = loader->samples_per_epoch();
  std::vector<Ids> windows, epochs[2];
  for (index_t g = 0; g < samples; ++g) {
    windows.push_back(plain->sample(g).tokens);
    for (const int e : {0, 1}) epochs[e].push_back(loader->sample(e * samples + g).tokens);
  }
  CHECK(epochs[0] != windows);
  CHECK(epochs[0] != epochs[1]);
  std::sort(windows.begin(), windows.end());
  for (auto& epoch : epochs) {
    std::sort(epoch.begin(), epoch.end());
    CHECK(epoch == windows);
  }
}

TEST_CASE("loader: a sample depends on the seed and its number alone", "[io]") {
  const Corpus corpus(4000);
  const auto forwards = corpus.loader(13), backwards = corpus.loader(13);
  std::vector<Ids> samples;
  for (index_t g = 0; g < 700; ++g) samples.push_back(forwards->sample(g).tokens);
  for (index_t g = 699; g >= 0; --g) CHECK(backwards->sample(g).tokens == samples[g]);
  const auto other = corpus.loader(13, "contiguous", true, 4);
  int alike = 0;
  for (index_t g = 0; g < 300; ++g) alike += other->sample(g).tokens == samples[g];
  CHECK(alike < 12);  // Poisson(1)
}

TEST_CASE("loader: documents begin after end-of-text, and its label is dropped", "[io]") {
  const Corpus corpus(1000);
  const index_t length = GENERATE(1, 10, 64, 97);
  const auto loader = corpus.loader(length, "documents");
  for (index_t g = 0; g < loader->samples_per_epoch(); ++g) {
    const auto sample = loader->sample(g);
    std::vector<index_t> begins{0};
    index_t valid = length;
    for (index_t n = 0; n < length; ++n)
      if (sample.tokens[n] == end_of_text) {
        begins.push_back(n + 1);
        --valid;
      }
    CHECK(sample.document_begins == begins);
    CHECK(loader->valid_tokens(g) == valid);
  }
}

TEST_CASE("loader: any mesh sees the same labels, and as many as are announced", "[io]") {
  const Corpus corpus(3000);
  const index_t length = 97, rows = 3, first = 5;
  const std::string pack = GENERATE("contiguous", "documents");
  const std::string layout_name = GENERATE("contiguous", "zigzag");
  const int ranks = GENERATE(1, 2, 3, 4, 60);  // 60: chunks of one token and empty ones
  const auto loader = corpus.loader(length, pack);
  const auto layout = cp::SequenceLayout::named(layout_name, length, ranks);

  Ids tokens(rows * length, -7), labels(rows * length, -7);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto batch = loader->batch(first, rows, layout, rank);
    REQUIRE((batch.rows == rows && batch.tokens_per_row == layout.count(rank)));
    for (index_t row = 0; row < rows; ++row)
      for (index_t t = 0; t < batch.tokens_per_row; ++t) {
        const index_t at = row * length + layout.global(rank, t), local = row * batch.tokens_per_row + t;
        tokens[at] = batch.tokens[local];
        labels[at] = batch.labels[local];
      }
  }
  index_t announced = 0;
  for (index_t row = 0; row < rows; ++row) {
    const auto sample = loader->sample(first + row).tokens;
    announced += loader->valid_tokens(first + row);
    for (index_t n = 0; n < length; ++n) {
      CHECK(tokens[row * length + n] == sample[n]);
      const bool closes = pack == "documents" && sample[n] == end_of_text;
      CHECK(labels[row * length + n] == (closes ? ignored_label : sample[n + 1]));
    }
  }
  CHECK(announced == rows * length - std::count(labels.begin(), labels.end(), ignored_label));
}

TEST_CASE("loader: too few tokens for one window are refused, one window's worth is not", "[io]") {
  const Corpus corpus(98);
  CHECK(corpus.loader(97)->samples_per_epoch() == 1);
  CHECK(corpus.loader(97)->sample(5).tokens == corpus.ids);
  CHECK_THROWS_AS(corpus.loader(98), Refused);
  CHECK_THAT(refusal([&] { corpus.loader(98); }), ContainsSubstring("holds 98 train tokens"));
}

TEST_CASE("loader: an id above the vocabulary is refused where it is read", "[io]") {
  Corpus corpus(1000);
  corpus.ids[500] = 300;
  put(corpus.folder / shard_name("train", 1), shard_bytes({corpus.ids.begin() + 333, corpus.ids.end()}));
  const auto loader = corpus.loader(50, "contiguous", false);
  CHECK_NOTHROW(loader->sample(8));
  CHECK_THAT(refusal([&] { loader->sample(9); }),
             ContainsSubstring("train_shard_00001.bin: token 167 is 300"));  // 500 is the last label of window 9
  CHECK_THAT(refusal([&] { loader->sample(10); }), ContainsSubstring("token 167 is 300"));
}

TEST_CASE("loader: a shard that is shortened under a running loader is refused", "[io]") {
  const Corpus corpus(1000);
  const auto loader = corpus.loader(50, "contiguous", false);
  std::filesystem::resize_file(corpus.folder / shard_name("train", 1), 1200);
  CHECK_NOTHROW(loader->sample(0));
  CHECK_THAT(refusal([&] { loader->sample(18); }), ContainsSubstring("train_shard_00001.bin ends at byte"));
}
