#include "io/tensor_slices.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <numeric>

#include "io/fake_model.hpp"

using namespace annulus;
using namespace annulus::io;

TEST_CASE("tensor slices: cover a range exactly once, in order, in blocks of at most the given size", "[io]") {
  const auto [rows, width] = GENERATE(table<index_t, index_t>({{1, 23}, {5, 7}, {7, 1}, {4, 6}}));
  const bool flat = rows == 1 && GENERATE(true, false);
  const index_t most = GENERATE(1, 3, 7, 13, 1000);
  const index_t size = rows * width;
  for (index_t begin = 0; begin <= size; ++begin)
    for (index_t end = begin; end <= size; ++end) {
      index_t next = begin;
      const auto found = slices(flat ? std::vector{width} : std::vector{rows, width}, {begin, end - begin}, most);
      for (const Slice& slice : found) {
        REQUIRE(slice.first == next);
        REQUIRE((slice.count > 0 && slice.count <= most));
        const auto& [at, shape] = slice.block;
        REQUIRE(std::accumulate(shape.begin(), shape.end(), index_t{1}, std::multiplies<>()) == slice.count);
        // The block's elements, one by one, are first, first + 1, ...
        const index_t row = flat ? 0 : at[0], column = at.back(), block_rows = flat ? 1 : shape[0];
        for (index_t n = 0; n < slice.count; ++n)
          REQUIRE((row + n / shape.back()) * width + column + n % shape.back() == slice.first + n);
        REQUIRE((row + block_rows <= rows && column + shape.back() <= width));
        next += slice.count;
      }
      REQUIRE(next == end);
      if (most == 1000) REQUIRE(found.size() <= 3);
    }
}

TEST_CASE("tensor slices: the parts of all ranks are the whole tensor", "[io]") {
  const int world = GENERATE(1, 2, 3, 4, 7);
  const auto table = test::FakeModel::table(world);
  for (const model::Tensor& tensor : table.tensors()) {
    index_t next = 0;
    for (int rank = 0; rank < world; ++rank) {
      const auto part = owned_part(table, tensor, rank);
      if (part.count == 0) continue;
      CHECK(part.begin == next);
      next = part.end();
    }
    CHECK(next == tensor.count);
  }
}
