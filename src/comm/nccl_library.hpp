/// NCCL, looked up when first used, so that programs built with it also start where it is not installed. Compiled
/// against the toolkit's header; the library found at run time may be newer.
#pragma once
#include <nccl.h>

#include <string>

namespace annulus::comm {

struct NcclLibrary {
  decltype(&ncclGetVersion) get_version;
  decltype(&ncclGetErrorString) error_string;
  decltype(&ncclGetLastError) last_error;
  decltype(&ncclGetUniqueId) get_unique_id;
  decltype(&ncclCommInitRank) init_rank;
  decltype(&ncclCommDestroy) destroy;
  decltype(&ncclCommAbort) abort;
  decltype(&ncclCommGetAsyncError) async_error;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclGroupEnd) group_end;
  decltype(&ncclSend) send;
  decltype(&ncclRecv) receive;
  decltype(&ncclAllGather) all_gather;
  decltype(&ncclBroadcast) broadcast;
};

/// Throws Error(Exit::refused), naming what is missing, where libnccl.so.2 cannot be loaded.
const NcclLibrary& nccl();

}  // namespace annulus::comm
