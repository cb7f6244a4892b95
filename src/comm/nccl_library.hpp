/// The functions of NCCL that this room calls, looked up in libnccl.so.2 when first used: programs start, plan and
/// check where there is none, and LD_LIBRARY_PATH chooses among several.
#pragma once
#include <nccl.h>

#include <string>

namespace annulus::comm {

struct NcclLibrary {
  decltype(&ncclGetVersion) get_version;
  decltype(&ncclGetUniqueId) get_unique_id;
  decltype(&ncclCommInitRank) init_rank;
  decltype(&ncclCommDestroy) destroy;
  decltype(&ncclCommAbort) abort;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclGroupEnd) group_end;
  decltype(&ncclSend) send;
  decltype(&ncclRecv) receive;
  decltype(&ncclAllGather) all_gather;
  decltype(&ncclBroadcast) broadcast;
  decltype(&ncclCommGetAsyncError) async_error;
  decltype(&ncclGetErrorString) error_string;
  decltype(&ncclGetLastError) last_error;

  std::string missing;  ///< why it cannot be used; empty: it can
  int version = 0;      ///< 23007: 2.30.7
};

/// Loaded when first asked for.
const NcclLibrary& nccl_library();

}  // namespace annulus::comm
