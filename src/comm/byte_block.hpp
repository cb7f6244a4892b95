/// Contiguous bytes as MPI counts them, in an int: a longer block is one element of a type made for its length.
#pragma once
#include <mpi.h>

#include <climits>

#include "core/types.hpp"

namespace annulus::comm {

struct ByteBlock {
  int count;
  MPI_Datatype type;

  /// `most`: the longest block that is counted byte by byte.
  explicit ByteBlock(index_t bytes, index_t most = INT_MAX);
  /// Operations under way keep the type alive.
  ~ByteBlock();
  ByteBlock(const ByteBlock&) = delete;
  ByteBlock& operator=(const ByteBlock&) = delete;
};

}  // namespace annulus::comm
