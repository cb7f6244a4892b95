/// The ranks of a run as a dp x ring x ulysses grid, ulysses fastest: rank = (dp_rank * ring + ring_rank) * ulysses +
/// ulysses_rank. ring x ulysses ranks share each sequence; dp groups of them work on different ones.
#pragma once
#include <functional>
#include <memory>

#include "comm/communicator.hpp"
#include "comm/transport.hpp"

namespace annulus::comm {

struct MeshShape {
  int dp = 1, ring = 1, ulysses = 1;
  int size() const { return dp * ring * ulysses; }
};

/// How its ring and reduce groups exchange values.
struct MeshOptions {
  Transport transport = Transport::automatic;
  /// Puts something around each of them, where there is more than one rank.
  std::function<std::unique_ptr<Communicator>(std::unique_ptr<Communicator>)> around;
};

class Mesh {
 public:
  /// Collective over `world` (host memory), which must have shape.size() ranks (else Refused, naming both numbers).
  Mesh(std::unique_ptr<Communicator> world, MeshShape shape, const MeshOptions& options = {});

  const MeshShape& shape() const { return shape_; }
  int rank() const { return world_->rank(); }
  int size() const { return world_->size(); }
  int dp_rank() const { return rank() / (shape_.ring * shape_.ulysses); }
  int ring_rank() const { return rank() / shape_.ulysses % shape_.ring; }
  int ulysses_rank() const { return rank() % shape_.ulysses; }

  /// All ranks, on host memory: agreement, barriers, files.
  Communicator& world() const { return *world_; }
  /// KV blocks: the ranks that share a sequence.
  Communicator& ring() const { return *ring_; }
  /// Gradients and parameter shards: all ranks.
  Communicator& reduce() const { return *reduce_; }

 private:
  MeshShape shape_;
  std::unique_ptr<Communicator> world_, ring_, reduce_;
};

/// Host values on which all ranks agree; blocking.
double agree(Communicator& world, double value, Reduction reduction);
index_t agree(Communicator& world, index_t value, Reduction reduction);

}  // namespace annulus::comm
