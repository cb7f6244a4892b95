/// Communicators over NCCL, for the memory of a GPU.
#pragma once
#include <memory>

#include "comm/communicator.hpp"

namespace annulus::comm {

/// Collective over `host`, which carries `agree`, `barrier` and `split`; `host` itself where it has one rank. Uses the
/// current GPU. Operations run in the order of issue on a stream of their own. Throws Error(Exit::refused) where NCCL
/// cannot be loaded or refuses the group: several ranks on one GPU need NCCL 2.30 and NCCL_MULTI_RANK_GPU_ENABLE=1.
/// Ranks that disagree about a length are not noticed.
std::unique_ptr<Communicator> nccl_communicator(std::unique_ptr<Communicator> host);

}  // namespace annulus::comm
