#include "cp/rotator.hpp"

#include "core/error.hpp"
#include "core/text.hpp"
#include "cp/p2p_ring.hpp"

namespace annulus::cp {

namespace {

void require_p2p(const std::string& name) {
  if (name == "p2p") return;
  if (name == "all-to-all" || name == "all-gather")
    throw Refused(text("attention.rotator = \"", name, "\" is not built yet; use \"p2p\""));
  throw Refused(text("attention.rotator = \"", name, "\" is not known; use \"p2p\""));
}

}  // namespace

index_t rotator_workspace_bytes(const std::string& name, int ranks, index_t block_bytes, index_t gradient_bytes) {
  require_p2p(name);
  return P2pRing::workspace_bytes(ranks, block_bytes, gradient_bytes);
}

std::unique_ptr<Rotator> make_rotator(const std::string& name, comm::Communicator& ring) {
  require_p2p(name);
  return std::make_unique<P2pRing>(ring);
}

}  // namespace annulus::cp
