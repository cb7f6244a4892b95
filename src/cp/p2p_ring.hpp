/// The ring of Liu et al. 2023 (arXiv 2310.01889): each rank sends the block it holds to the next rank and receives one
/// from the previous rank, size - 1 times. A block's gradient follows one step behind and makes one hop more, home.
#pragma once
#include <cstddef>

#include "cp/rotator.hpp"

namespace annulus::cp {

class P2pRing final : public Rotator {
 public:
  /// `ring` outlives this.
  explicit P2pRing(comm::Communicator& ring) : ring_(ring) {}

  static index_t workspace_bytes(int ranks, index_t block_bytes, index_t gradient_bytes);

  const char* name() const override { return "p2p"; }
  int rank() const override { return ring_.rank(); }
  int size() const override { return ring_.size(); }

  void begin(const Streams& streams, const Pass& pass) override;
  Block block(int step) override;
  void add_gradient(int step, void* mine) override;
  const void* own_gradient() override;

 private:
  /// Whose block step `step` works on; step size() is the way home.
  int owner(int step) const { return (rank() - step + size()) % size(); }
  int next() const { return (rank() + 1) % size(); }
  int previous() const { return (rank() - 1 + size()) % size(); }
  index_t gradients(int step) const;
  comm::ConstValues words(const void* block, int step) const;
  comm::Values words(void* block, int step) const;

  /// The pass under way. Two buffers for each kind: one is read while the next arrives.
  struct UnderWay {
    const Streams* streams = nullptr;
    Pass pass{};
    std::byte* blocks[2] = {};     ///< step s > 0 reads blocks[s % 2]
    std::byte* gradients[2] = {};  ///< step s adds into gradients[s % 2]
    comm::Ticket block_arrival{}, gradient_arrival{};
    const void* own_gradient = nullptr;
  };

  comm::Communicator& ring_;
  UnderWay now_;
};

}  // namespace annulus::cp
