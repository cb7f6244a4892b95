#include <cuda_runtime_api.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "comm/nccl_communicator.hpp"
#include "comm/nccl_library.hpp"
#include "core/text.hpp"

namespace annulus::comm {

namespace {

constexpr int shares_gpus = 23000;  // the first version that runs several ranks on one GPU

/// Of this rank's GPU, different from any other's in the job (FNV-1a of the host's name and the GPU's place in it).
std::int64_t gpu_identity() {
  char host[256] = {}, place[64] = {};
  gethostname(host, sizeof host - 1);
  int device = 0;
  cudaGetDevice(&device);
  cudaDeviceGetPCIBusId(place, sizeof place, device);
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : std::string(host) + ' ' + place) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return static_cast<std::int64_t>(hash);
}

bool ranks_share_gpus(Communicator& host) {
  std::vector<std::int64_t> identities(host.size());
  identities[host.rank()] = gpu_identity();
  host.agree({identities.data(), index_t(identities.size()), Scalar::int64}, Reduction::sum);
  std::sort(identities.begin(), identities.end());
  return std::adjacent_find(identities.begin(), identities.end()) != identities.end();
}

bool sharing_enabled() {
  const char* const enabled = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  return enabled && std::string(enabled) == "1";
}

bool any(Communicator& host, bool mine) {
  std::int32_t value = mine;
  host.agree({&value, 1, Scalar::int32}, Reduction::max);
  return value != 0;
}

}  // namespace

std::string nccl_obstacle(Communicator& host, GpuSharing sharing) {
  const NcclLibrary& nccl = nccl_library();
  if (any(host, !nccl.missing.empty()))
    return nccl.missing.empty() ? "another rank cannot load libnccl.so.2" : nccl.missing;
  if (!ranks_share_gpus(host)) return "";
  if (sharing == GpuSharing::refused) return "ranks share a GPU";
  if (any(host, nccl.version < shares_gpus))
    return text("ranks share a GPU, which NCCL allows from 2.30 on; this one is ", nccl.version / 10000, '.',
                nccl.version / 100 % 100);
  if (any(host, !sharing_enabled())) return "ranks share a GPU, and NCCL_MULTI_RANK_GPU_ENABLE is not 1 on all of them";
  return "";
}

}  // namespace annulus::comm
