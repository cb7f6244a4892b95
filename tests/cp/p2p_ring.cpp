#include "cp/p2p_ring.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>

#include "core/error.hpp"
#include "support/views.hpp"
#include "wires.hpp"

using namespace annulus;
using test::Numbers, test::Timing, test::Wire;

namespace {

constexpr index_t words_per_token = 3, gradients_per_token = 2;

/// A copy of what lies at `data` once compute() is done with what it was given.
template <class T>
Numbers read(const Streams& streams, const void* data, index_t count) {
  streams.compute().fence();
  return test::download(Vector<const T>(static_cast<const T*>(data), count));
}

/// The words of a rank's block: different for each owner, place and pass.
Numbers block_of(int owner, index_t tokens, int pass) {
  Numbers words(tokens * words_per_token);
  for (std::size_t n = 0; n < words.size(); ++n) words[n] = 1e6 * (pass + 1) + 1e4 * (owner + 1) + double(n);
  return words;
}

/// What rank `rank` adds to the gradient of owner's block: the decimal digit of its own, so that a sum tells who
/// contributed and who did not, and to what. No digit carries and fp32 holds the sums of up to 7 ranks.
Numbers contribution(int rank, int owner, index_t tokens, int pass) {
  Numbers digits(tokens * gradients_per_token);
  for (std::size_t n = 0; n < digits.size(); ++n)
    digits[n] = std::pow(10, rank) * double(1 + (3 * owner + 5 * pass + int(n)) % 8);
  return digits;
}

struct Ring {
  Wire wire;
  Streams streams;
  std::vector<index_t> tokens;

  Ring(Timing timing, index_t (*tokens_of)(int)) : wire(test::world(), timing) {
    for (int r = 0; r < wire.size(); ++r) tokens.push_back(tokens_of(r));
  }
  index_t most() const { return *std::max_element(tokens.begin(), tokens.end()); }
  int owner(int step) const { return (wire.rank() - step + wire.size()) % wire.size(); }
};

index_t equal(int) { return 5; }
index_t uneven(int rank) { return 4 - rank; }
index_t one_only(int rank) { return rank == 1 ? 3 : 0; }
index_t none(int) { return 0; }

const auto each_size = {equal, uneven, one_only, none};
const auto each_timing = {Timing::plain, Timing::eager, Timing::late, Timing::jitter};

}  // namespace

TEST_CASE("p2p ring: each step has the block of its owner in every pass", "[cp]") {
  const auto tokens_of = GENERATE(values(each_size));
  const Timing timing = GENERATE(values(each_timing));
  Ring ring(timing, tokens_of);
  const auto rotator = cp::make_rotator("p2p", ring.wire);
  const index_t bytes = ring.most() * words_per_token * index_t(sizeof(std::int32_t));
  const Vector<std::byte> workspace("workspace", cp::rotator_workspace_bytes("p2p", ring.wire.size(), bytes, 0));

  for (int pass = 0; pass < 3; ++pass) {
    const auto own = test::upload<std::int32_t>(block_of(ring.wire.rank(), ring.tokens[ring.wire.rank()], pass));
    rotator->begin(ring.streams, {.own = own.data(),
                                  .tokens = ring.tokens.data(),
                                  .bytes_per_token = words_per_token * index_t(sizeof(std::int32_t)),
                                  .gradient_type = Scalar::fp32,
                                  .gradients_per_token = 0,
                                  .workspace = workspace.data()});
    for (int step = 0; step < rotator->size(); ++step) {
      CAPTURE(pass, step);
      const cp::Rotator::Block block = rotator->block(step);
      REQUIRE(block.owner == ring.owner(step));
      const index_t tokens = ring.tokens[block.owner];
      CHECK(read<std::int32_t>(ring.streams, block.data, tokens * words_per_token) ==
            block_of(block.owner, tokens, pass));
      if (step == 0) CHECK(block.data == own.data());  // read in place
    }
  }
}

TEMPLATE_TEST_CASE("p2p ring: the gradients of all ranks come home to the block's owner", "[cp]", float, double) {
  using A = TestType;
  const auto tokens_of = GENERATE(values(each_size));
  const Timing timing = GENERATE(values(each_timing));
  Ring ring(timing, tokens_of);
  const int rank = ring.wire.rank(), size = ring.wire.size();
  const auto rotator = cp::make_rotator("p2p", ring.wire);
  const index_t block_bytes = ring.most() * words_per_token * index_t(sizeof(std::int32_t));
  const index_t gradient_bytes = ring.most() * gradients_per_token * index_t(sizeof(A));
  const Vector<std::byte> workspace("workspace", cp::rotator_workspace_bytes("p2p", size, block_bytes, gradient_bytes));

  for (int pass = 0; pass < 3; ++pass) {
    const auto own = test::upload<std::int32_t>(block_of(rank, ring.tokens[rank], pass));
    const Vector<A> mine("mine", ring.most() * gradients_per_token);
    rotator->begin(ring.streams, {.own = own.data(),
                                  .tokens = ring.tokens.data(),
                                  .bytes_per_token = words_per_token * index_t(sizeof(std::int32_t)),
                                  .gradient_type = sizeof(A) == 8 ? Scalar::fp64 : Scalar::fp32,
                                  .gradients_per_token = gradients_per_token,
                                  .workspace = workspace.data()});
    for (int step = 0; step < size; ++step) {
      CAPTURE(pass, step);
      const cp::Rotator::Block block = rotator->block(step);
      const index_t tokens = ring.tokens[block.owner];
      CHECK(read<std::int32_t>(ring.streams, block.data, tokens * words_per_token) ==
            block_of(block.owner, tokens, pass));
      test::upload(Numbers(mine.size(), NAN), mine);  // the last step's contribution was the caller's to overwrite
      test::upload(contribution(rank, block.owner, tokens, pass), mine);
      rotator->add_gradient(step, mine.data());
    }
    Numbers expected(ring.tokens[rank] * gradients_per_token);
    for (int r = 0; r < size; ++r) {
      const Numbers digits = contribution(r, rank, ring.tokens[rank], pass);
      for (std::size_t n = 0; n < expected.size(); ++n) expected[n] += digits[n];
    }
    CHECK(read<A>(ring.streams, rotator->own_gradient(), index_t(expected.size())) == expected);
  }
}

TEST_CASE("rotators that are not built are refused by name", "[cp]") {
  using Catch::Matchers::ContainsSubstring;
  for (const std::string name : {"all-to-all", "all-gather"}) {
    CHECK_THROWS_AS(cp::make_rotator(name, test::world()), Refused);
    CHECK_THROWS_WITH(cp::make_rotator(name, test::world()),
                      ContainsSubstring(name) && ContainsSubstring("not built yet"));
    CHECK_THROWS_AS(cp::rotator_workspace_bytes(name, 2, 1, 1), Refused);
  }
  CHECK_THROWS_WITH(cp::make_rotator("carousel", test::world()),
                    ContainsSubstring("carousel") && ContainsSubstring("p2p"));
}
