/// Moves key-value blocks around a ring, and their gradients home. Blocks are bytes here; rank r's own block is block
/// r.
///
/// Forward and backward both start from begin(), which forgets whatever the last pass left (a rotator that kept its
/// blocks across steps once served the first step's keys for ever). Step s of a pass works on the block of rank
/// (rank - s) mod size; block(s + 1) travels while step s computes.
#pragma once
#include <memory>
#include <string>

#include "comm/communicator.hpp"
#include "core/streams.hpp"

namespace annulus::cp {

class Rotator {
 public:
  virtual ~Rotator() = default;
  virtual const char* name() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// A pass begins with this rank's block, which stays readable until the pass ends. Sizes of the blocks of all ranks:
  /// bytes_of(owner) = tokens(owner) * bytes per token.
  struct Pass {
    const void* own;              ///< written by work given to compute()
    const index_t* tokens;        ///< (size) tokens of each rank's block, host memory
    index_t bytes_per_token;      ///< of a block
    Scalar gradient_type;         ///< of the gradient blocks
    index_t gradients_per_token;  ///< elements; 0: forward only
    void* workspace;              ///< rotator_workspace_bytes(..), device memory
  };
  virtual void begin(const Streams& streams, const Pass& pass) = 0;

  struct Block {
    int owner;
    const void* data;
  };
  /// The block of step s, readable by what compute() is given next; called for s = 0, 1, ..., size - 1, in order.
  virtual Block block(int step) = 0;
  /// Backward: hands over this rank's gradient of step s's block (`mine`, elements of gradient_type, written by work
  /// given to compute()), after block(s) was used. It is added to what earlier ranks of the block's way contributed, in
  /// gradient_type. `mine` may be rewritten by what compute() is given afterwards; only the last step's stays as it is
  /// until own_gradient() has been used, so that a ring of one rank need not copy it.
  virtual void add_gradient(int step, void* mine) = 0;
  /// Backward: after the last add_gradient, the sum over all ranks for this rank's own block, readable by what
  /// compute() is given next, until the next begin().
  virtual const void* own_gradient() = 0;
};

/// Bytes of device memory that a pass of the named rotator needs besides the own block: blocks that are under way, and
/// gradients that are (`gradient_bytes` 0: forward only). Both arguments are of the largest block of any rank. Host
/// code: a plan asks before there is a communicator.
index_t rotator_workspace_bytes(const std::string& name, int ranks, index_t block_bytes, index_t gradient_bytes);

/// By its deck name over a ring communicator ("p2p"; others are refused by name until they exist).
std::unique_ptr<Rotator> make_rotator(const std::string& name, comm::Communicator& ring);

}  // namespace annulus::cp
