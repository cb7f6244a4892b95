#include "comm/keys.hpp"

#include "deck/deck.hpp"

namespace annulus::comm {

void MeshKeys::describe(deck::Block& block) {
  constexpr double most = 1 << 15;  // so that the size of the grid fits an int
  block.doc("The grid of ranks: dp x ring x ulysses. Its size is the number of ranks that a run is started with.");
  block.key("dp", dp).unit("ranks").at_least(1).at_most(most).doc("groups that work on different sequences");
  block.key("ring", ring)
      .unit("ranks")
      .at_least(1)
      .at_most(most)
      .doc("ranks that share each sequence, keys and values travelling around them");
  block.key("ulysses", ulysses)
      .unit("ranks")
      .at_least(1)
      .at_most(most)
      .doc("ranks that share the heads of each part of a sequence")
      .later_above(1, "the exchange of heads between ranks");
  block.key("transport", transport)
      .one_of({"auto", "mpi", "nccl"})
      .doc(
          "how ranks exchange what lies on GPUs: auto is nccl where each rank has a GPU of its own, else mpi through "
          "host memory; nccl on ranks that share one needs NCCL 2.30 and NCCL_MULTI_RANK_GPU_ENABLE=1");
  block.later("order", "which of ring and ulysses has neighbouring ranks");
}

}  // namespace annulus::comm
