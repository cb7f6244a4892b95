#include "comm/byte_block.hpp"

#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <vector>

using annulus::comm::ByteBlock;

TEST_CASE("byte_block: blocks longer than MPI counts arrive whole", "[comm]") {
  const int most = 5;  // instead of 2^31 - 1
  for (int bytes = 0; bytes <= 23; ++bytes) {
    std::vector<unsigned char> sent(bytes), received(bytes, 0);
    std::iota(sent.begin(), sent.end(), 1);
    const ByteBlock block(bytes, most);
    MPI_Status status;
    MPI_Sendrecv(sent.data(), block.count, block.type, 0, 0, received.data(), block.count, block.type, 0, 0,
                 MPI_COMM_SELF, &status);
    MPI_Count arrived;
    MPI_Get_elements_x(&status, MPI_BYTE, &arrived);
    CHECK(received == sent);
    CHECK(arrived == bytes);
    CHECK((block.count == 1 || bytes <= most));
  }
}

TEST_CASE("byte_block: two of them lie side by side", "[comm]") {
  const ByteBlock block(13, 5);
  MPI_Aint begin, extent;
  MPI_Type_get_extent(block.type, &begin, &extent);
  CHECK((begin == 0 && extent == 13));
  MPI_Count size;
  MPI_Type_size_x(ByteBlock(5'000'000'000).type, &size);
  CHECK(size == 5'000'000'000);
}
