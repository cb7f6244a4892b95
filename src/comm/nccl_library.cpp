#include "comm/nccl_library.hpp"

#include <dlfcn.h>

namespace annulus::comm {

namespace {

NcclLibrary loaded() {
  NcclLibrary nccl{};
  void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    nccl.missing = dlerror();
    return nccl;
  }
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function && nccl.missing.empty()) nccl.missing = std::string("libnccl.so.2 has no ") + name;
  };
  find(nccl.get_version, "ncclGetVersion");
  find(nccl.get_unique_id, "ncclGetUniqueId");
  find(nccl.init_rank, "ncclCommInitRank");
  find(nccl.destroy, "ncclCommDestroy");
  find(nccl.abort, "ncclCommAbort");
  find(nccl.group_start, "ncclGroupStart");
  find(nccl.group_end, "ncclGroupEnd");
  find(nccl.send, "ncclSend");
  find(nccl.receive, "ncclRecv");
  find(nccl.all_gather, "ncclAllGather");
  find(nccl.broadcast, "ncclBroadcast");
  find(nccl.async_error, "ncclCommGetAsyncError");
  find(nccl.error_string, "ncclGetErrorString");
  find(nccl.last_error, "ncclGetLastError");
  if (nccl.missing.empty() && nccl.get_version(&nccl.version) != ncclSuccess)
    nccl.missing = "libnccl.so.2 does not tell its version";
  return nccl;
}

}  // namespace

const NcclLibrary& nccl_library() {
  static const NcclLibrary library = loaded();
  return library;
}

}  // namespace annulus::comm
