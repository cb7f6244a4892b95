#include "io/byte_pairs.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <random>

#include "io/token_files.hpp"

using namespace annulus::io;
using namespace annulus::test;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Vocabulary {
  std::vector<std::string> tokens;
  std::vector<Merge> merges;
};

/// All bytes, and merges of any two tokens that were there before: some are never reached, and ranks are not in order.
Vocabulary random_vocabulary(std::mt19937_64& draw) {
  Vocabulary v;
  for (int byte = 0; byte < 256; ++byte) v.tokens.push_back(std::string(1, static_cast<char>(byte)));
  std::vector<std::int32_t> parts{'a', 'b', 'c'};
  while (v.merges.size() < 40) {
    const auto left = parts[draw() % parts.size()], right = parts[draw() % parts.size()];
    const bool known = std::any_of(v.merges.begin(), v.merges.end(),
                                   [&](const Merge& m) { return m.left == left && m.right == right; });
    const auto merged = static_cast<std::int32_t>(v.tokens.size());
    if (known) continue;
    v.tokens.push_back(v.tokens[left] + v.tokens[right]);
    v.merges.push_back({left, right, merged, static_cast<std::int32_t>(draw() % 30)});  // some ranks are equal
    parts.push_back(merged);
  }
  return v;
}

/// By the definition.
Ids merged(const Vocabulary& v, const std::string& piece) {
  Ids ids;
  for (const char c : piece) ids.push_back(static_cast<unsigned char>(c));
  while (true) {
    const Merge* best = nullptr;
    std::size_t place = 0;
    for (std::size_t n = 0; n + 1 < ids.size(); ++n)
      for (const Merge& m : v.merges)
        if (m.left == ids[n] && m.right == ids[n + 1] && (!best || m.rank < best->rank)) best = &m, place = n;
    if (!best) return ids;
    ids[place] = best->merged;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

}  // namespace

TEST_CASE("byte pairs: short and long pieces are merged by rank, leftmost first", "[io]") {
  std::mt19937_64 draw(3);
  for (int n = 0; n < 300; ++n) {
    const Vocabulary v = random_vocabulary(draw);
    const BytePairs pairs(v.tokens, v.merges, false);
    for (const std::size_t length : {1u, 2u, 7u, 47u, 48u, 49u, 150u}) {
      std::string piece;
      while (piece.size() < length) piece += static_cast<char>('a' + draw() % 3);
      Ids ids;
      pairs.encode(piece, ids);
      if (ids != merged(v, piece)) FAIL(piece);
    }
  }
}

TEST_CASE("byte pairs: a piece that is a token is that token, where the vocabulary says so", "[io]") {
  Vocabulary v;
  for (int byte = 0; byte < 256; ++byte) v.tokens.push_back(std::string(1, static_cast<char>(byte)));
  v.tokens.insert(v.tokens.end(), {"ab", "abc"});
  v.merges = {{'a', 'b', 256, 0}};  // none makes "abc"
  Ids merged_only, whole;
  BytePairs(v.tokens, v.merges, false).encode("abc", merged_only);
  BytePairs(v.tokens, v.merges, true).encode("abc", whole);
  CHECK(merged_only == Ids{256, 'c'});
  CHECK(whole == Ids{257});
}

TEST_CASE("byte pairs: a vocabulary that lacks a byte, and a pair that is merged twice, are refused", "[io]") {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(std::string(1, static_cast<char>(byte)));
  tokens.push_back("ab");
  const std::vector<Merge> twice{{'a', 'b', 256, 0}, {'a', 'b', 256, 1}};
  CHECK_THAT(refusal([&] { BytePairs(tokens, twice, false); }), ContainsSubstring("twice"));
  tokens['x'].clear();
  CHECK_THAT(refusal([&] { BytePairs(tokens, {}, false); }), ContainsSubstring("no token for byte 120"));
}
