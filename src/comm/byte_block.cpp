#include "comm/byte_block.hpp"

namespace annulus::comm {

ByteBlock::ByteBlock(index_t bytes, index_t most) : count(static_cast<int>(bytes)), type(MPI_BYTE) {
  if (bytes <= most) return;
  const index_t pieces = bytes / most;
  MPI_Datatype piece, body;
  MPI_Type_contiguous(static_cast<int>(most), MPI_BYTE, &piece);
  MPI_Type_contiguous(static_cast<int>(pieces), piece, &body);
  const int lengths[] = {1, static_cast<int>(bytes % most)};
  const MPI_Aint places[] = {0, pieces * most};
  const MPI_Datatype types[] = {body, MPI_BYTE};
  MPI_Type_create_struct(2, lengths, places, types, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&body);
  MPI_Type_free(&piece);
  count = 1;
}

ByteBlock::~ByteBlock() {
  if (type != MPI_BYTE) MPI_Type_free(&type);
}

}  // namespace annulus::comm
