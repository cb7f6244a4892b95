#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <numeric>

#include "io/loader.hpp"

using namespace annulus;
using cp::LocalBatch, cp::SequenceLayout;
using io::RowRules, io::Sample;
using Ids = std::vector<std::int32_t>;
using Orders = std::vector<index_t>;

namespace {

/// Tokens first, first + 1, ..., one more than `length`.
Sample counting(index_t length, std::int32_t first, Orders document_begins) {
  Sample row{Ids(length + 1), std::move(document_begins)};
  std::iota(row.tokens.begin(), row.tokens.end(), first);
  return row;
}

LocalBatch batch_of(const Sample& row, const RowRules& rules, const SequenceLayout& layout, int rank) {
  return io::local_batch(std::span(&row, 1), rules, layout, rank);
}

}  // namespace

TEST_CASE("local_batch: labels are shifted before the split", "[cp]") {
  const SequenceLayout layout = SequenceLayout::zigzag(8, 2);
  const Sample row = counting(8, 0, {0});
  const LocalBatch first = batch_of(row, {}, layout, 0), second = batch_of(row, {}, layout, 1);
  CHECK(first.tokens == Ids{0, 1, 6, 7});
  CHECK(first.labels == Ids{1, 2, 7, 8});
  CHECK(second.tokens == Ids{2, 3, 4, 5});
  CHECK(second.labels == Ids{3, 4, 5, 6});
}

TEST_CASE("local_batch: a document's last token has no label", "[cp]") {
  const SequenceLayout layout = SequenceLayout::zigzag(8, 2);
  CHECK(batch_of(counting(8, 0, {0, 4}), {}, layout, 1).labels == Ids{3, ignored_label, 5, 6});
  CHECK(batch_of(counting(8, 0, {0, 8}), {}, layout, 0).labels == Ids{1, 2, 7, ignored_label});
  CHECK(batch_of(counting(8, 0, {0, 1, 7}), {}, layout, 0).labels == Ids{ignored_label, 2, ignored_label, 8});
}

TEST_CASE("local_batch: positions are orders in the row, or restart at each document", "[cp]") {
  const SequenceLayout layout = SequenceLayout::zigzag(8, 2);
  const Sample row = counting(8, 0, {0, 1, 5});
  CHECK(batch_of(row, {}, layout, 0).positions == Orders{0, 1, 6, 7});
  CHECK(batch_of(row, {}, layout, 1).positions == Orders{2, 3, 4, 5});
  const RowRules restart{.restart_positions = true};
  CHECK(batch_of(row, restart, layout, 0).positions == Orders{0, 0, 1, 2});
  CHECK(batch_of(row, restart, layout, 1).positions == Orders{1, 2, 3, 0});
}

TEST_CASE("local_batch: what a query sees is what the rules say of its order", "[cp]") {
  const bool causal = GENERATE(true, false);
  const index_t window = GENERATE(0, 1, 3), length = GENERATE(0, 1, 3, 11);
  const int ranks = GENERATE(1, 2, 4);
  const std::string name = GENERATE("contiguous", "zigzag");
  const Orders begins = length >= 3 ? Orders{0, 1, length - 1, length} : Orders{0};
  CAPTURE(causal, window, length, ranks, name);
  std::vector<int> document(length);  // of each order
  for (index_t i = 0; i < length; ++i)
    for (const index_t begin : begins) document[i] += begin <= i;

  const SequenceLayout layout = SequenceLayout::named(name, length, ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const LocalBatch batch = batch_of(counting(length, 0, begins), {.causal = causal, .window = window}, layout, rank);
    REQUIRE(index_t(batch.visible_begin.size()) == layout.count(rank));
    REQUIRE(batch.visible_end.size() == batch.visible_begin.size());
    for (index_t local = 0; local < layout.count(rank); ++local) {
      const index_t i = layout.global(rank, local);
      for (index_t j = 0; j < length; ++j) {
        const bool sees = document[j] == document[i] && (!causal || j <= i) && (window == 0 || j > i - window);
        CHECK((batch.visible_begin[local] <= j && j < batch.visible_end[local]) == sees);
      }
    }
  }
}

TEST_CASE("local_batch: rows follow one another, each by its own documents", "[cp]") {
  const SequenceLayout layout = SequenceLayout::zigzag(5, 2);  // chunks of 2, 1, 1, 1
  const std::vector<Sample> rows{counting(5, 0, {0}), counting(5, 10, {0, 2})};
  const LocalBatch batch = io::local_batch(rows, {}, layout, 0);
  CHECK(batch.rows == 2);
  CHECK(batch.tokens_per_row == 3);
  CHECK(batch.tokens == Ids{0, 1, 4, 10, 11, 14});
  CHECK(batch.labels == Ids{1, 2, 5, 11, ignored_label, 15});
  CHECK(batch.visible_begin == Orders{0, 0, 0, 0, 0, 2});
  CHECK(batch.visible_end == Orders{1, 2, 5, 1, 2, 5});
}

TEST_CASE("local_batch: all ranks together hold each label that counts once", "[cp]") {
  const int ranks = GENERATE(1, 2, 3, 4);
  const index_t length = GENERATE(0, 1, 3, 97);
  const Orders begins = length >= 3 ? Orders{0, 1, length} : Orders{0};
  const SequenceLayout layout = SequenceLayout::zigzag(length, ranks);
  Ids labels;
  for (int rank = 0; rank < ranks; ++rank)
    for (const std::int32_t label : batch_of(counting(length, 0, begins), {}, layout, rank).labels)
      if (label != ignored_label) labels.push_back(label);
  std::sort(labels.begin(), labels.end());
  Ids expected;  // of each order but a document's last
  for (index_t i = 0; i < length; ++i)
    if (std::find(begins.begin(), begins.end(), i + 1) == begins.end()) expected.push_back(std::int32_t(i + 1));
  CHECK(labels == expected);
}
