#include "cp/sequence_layout.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <vector>

#include "core/error.hpp"

using namespace annulus;
using cp::Segment, cp::SequenceLayout;

namespace {

std::vector<index_t> counts(const SequenceLayout& layout) {
  std::vector<index_t> counts;
  for (int r = 0; r < layout.ranks(); ++r) counts.push_back(layout.count(r));
  return counts;
}

/// The orders that a rank holds, in the order in which it holds them.
std::vector<index_t> held(const SequenceLayout& layout, int rank) {
  std::vector<index_t> orders;
  for (const Segment& segment : layout.segments(rank))
    for (index_t i = 0; i < segment.count; ++i) orders.push_back(segment.begin + i);
  return orders;
}

}  // namespace

TEST_CASE("layout: every token lies on one rank, for any length and any number of ranks", "[cp]") {
  const std::string name = GENERATE("contiguous", "zigzag");
  const int ranks = GENERATE(range(1, 9));
  for (index_t length = 0; length <= 200; ++length) {
    CAPTURE(name, ranks, length);
    const SequenceLayout layout = SequenceLayout::named(name, length, ranks);
    REQUIRE(layout.length() == length);
    REQUIRE(layout.ranks() == ranks);
    std::vector<int> owners(length, 0);
    for (int r = 0; r < ranks; ++r) {
      const std::vector<index_t> orders = held(layout, r);
      REQUIRE(std::is_sorted(orders.begin(), orders.end()));
      REQUIRE(index_t(orders.size()) == layout.count(r));
      for (std::size_t local = 0; local < orders.size(); ++local) {
        REQUIRE(layout.global(r, index_t(local)) == orders[local]);
        ++owners.at(orders[local]);
      }
    }
    REQUIRE(std::all_of(owners.begin(), owners.end(), [](int owned) { return owned == 1; }));
  }
}

TEST_CASE("layout: ranks differ by at most one token", "[cp]") {
  const std::string name = GENERATE("contiguous", "zigzag");
  const int ranks = GENERATE(range(1, 9));
  for (index_t length = 0; length <= 200; ++length) {
    CAPTURE(name, ranks, length);
    const SequenceLayout layout = SequenceLayout::named(name, length, ranks);
    const auto all = counts(layout);
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    REQUIRE(*most - *least <= 1);
    REQUIRE(layout.max_count() == *most);
  }
}

TEST_CASE("layout: segments are not empty and never touch", "[cp]") {
  const std::string name = GENERATE("contiguous", "zigzag");
  const int ranks = GENERATE(range(1, 9));
  const std::size_t most = name == "zigzag" ? 2 : 1;
  for (index_t length = 0; length <= 200; ++length) {
    CAPTURE(name, ranks, length);
    const SequenceLayout layout = SequenceLayout::named(name, length, ranks);
    for (int r = 0; r < ranks; ++r) {
      index_t end = -1;
      REQUIRE(layout.segments(r).size() <= most);
      for (const Segment& segment : layout.segments(r)) {
        REQUIRE(segment.count > 0);
        REQUIRE(segment.begin > end);
        end = segment.begin + segment.count;
      }
    }
  }
}

TEST_CASE("layout: zigzag gives every rank the same causal work, to a chunk's width", "[cp]") {
  const int ranks = GENERATE(range(2, 9));
  const index_t length = GENERATE(64, 97, 128, 200);
  CAPTURE(ranks, length);
  const SequenceLayout layout = SequenceLayout::zigzag(length, ranks);
  std::vector<index_t> pairs;  // of a query and a key that it sees
  for (int r = 0; r < ranks; ++r) {
    pairs.push_back(0);
    for (const index_t order : held(layout, r)) pairs.back() += order + 1;
  }
  // Chunks r and 2R-1-r of equal width hold the same sum of orders for every r; a chunk that is one token longer adds
  // one query (at most `length` keys) and shifts the others by at most one chunk each.
  const auto [least, most] = std::minmax_element(pairs.begin(), pairs.end());
  CHECK(*most - *least <= (length % (2 * ranks) == 0 ? 0 : 2 * length));
}

TEST_CASE("layout: chunks lie where the definition says", "[cp]") {
  const auto segments = [](const SequenceLayout& layout, int rank) {
    const auto all = layout.segments(rank);
    return std::vector<Segment>(all.begin(), all.end());
  };
  const SequenceLayout contiguous = SequenceLayout::contiguous(10, 3);
  CHECK(segments(contiguous, 0) == std::vector<Segment>{{0, 4}});
  CHECK(segments(contiguous, 1) == std::vector<Segment>{{4, 3}});
  CHECK(segments(contiguous, 2) == std::vector<Segment>{{7, 3}});
  const SequenceLayout zigzag = SequenceLayout::zigzag(13, 3);
  CHECK(segments(zigzag, 0) == std::vector<Segment>{{0, 3}, {11, 2}});
  CHECK(segments(zigzag, 1) == std::vector<Segment>{{3, 2}, {9, 2}});
  CHECK(segments(zigzag, 2) == std::vector<Segment>{{5, 4}});
  const SequenceLayout one = SequenceLayout::zigzag(1, 4);
  CHECK(segments(one, 0) == std::vector<Segment>{{0, 1}});
  CHECK(segments(one, 3).empty());
}

TEST_CASE("layout: an unknown name is refused, with the known ones", "[cp]") {
  using Catch::Matchers::ContainsSubstring;
  CHECK_THROWS_AS(SequenceLayout::named("striped", 8, 2), Refused);
  CHECK_THROWS_WITH(SequenceLayout::named("striped", 8, 2),
                    ContainsSubstring("striped") && ContainsSubstring("zigzag"));
}
