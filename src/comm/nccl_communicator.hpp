/// Communicators over NCCL, for the memory of Exec on GPUs.
#pragma once
#include <memory>
#include <string>

#include "comm/communicator.hpp"

namespace annulus::comm {

/// Whether ranks may share a GPU: NCCL 2.30 allows it where NCCL_MULTI_RANK_GPU_ENABLE is 1; right rather than fast.
enum class GpuSharing { refused, allowed };

/// Bytes of each rank's terms that a communicator gathers, and then sums, at a time: its device memory holds so many of
/// every rank, from the first reduction on.
inline constexpr index_t nccl_slice_bytes = index_t(4) << 20;

/// Collective: why the ranks of `host` cannot communicate over NCCL; empty, on all of them, when they can.
std::string nccl_obstacle(Communicator& host, GpuSharing sharing);

/// Collective, and there must be no obstacle. `host` joins the ranks and stays what they agree and split over. One
/// rank: `host` itself.
std::unique_ptr<Communicator> nccl_communicator(std::unique_ptr<Communicator> host);

}  // namespace annulus::comm
