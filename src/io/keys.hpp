/// Deck keys of files: [data], [checkpoint].
#pragma once
#include <string>
#include <vector>

#include "core/types.hpp"

namespace annulus::deck {
class Block;
}

namespace annulus::io {

struct DataKeys {
  std::string train, validation;  ///< directories with {train,val}_shard_*.bin, or shard files
  index_t sequence_length = 1024;
  std::string format = "llmc";
  std::string pack = "contiguous";  ///< contiguous: windows of the token stream; documents: attention stays inside each
  bool restart_positions = false;   ///< RoPE positions restart at each document; with pack = "documents"
  void describe(deck::Block& block);
};

struct CheckpointKeys {
  index_t every_steps = 0;   ///< 0: only when stopped and at the end
  double every_minutes = 0;  ///< 0: never by time
  index_t keep = 3;
  void describe(deck::Block& block);
};

}  // namespace annulus::io
