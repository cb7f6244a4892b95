/// Deck keys of the mesh: [mesh].
#pragma once
#include <string>

#include "core/types.hpp"

namespace annulus::deck {
class Block;
}

namespace annulus::comm {

struct MeshKeys {
  index_t dp = 1, ring = 1, ulysses = 1;
  std::string transport = "auto";  ///< auto | mpi | nccl
  void describe(deck::Block& block);
};

}  // namespace annulus::comm
