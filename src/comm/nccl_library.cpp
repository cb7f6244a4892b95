#include "comm/nccl_library.hpp"

#include <dlfcn.h>

#include "core/error.hpp"

namespace annulus::comm {

namespace {

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function) throw Error(Exit::refused, std::string("libnccl.so.2 has no ") + name);
}

NcclLibrary loaded() {
  void* const library = dlopen("libnccl.so.2", RTLD_NOW);
  if (!library) throw Error(Exit::refused, std::string("transport nccl: ") + dlerror());
  NcclLibrary nccl{};
  look_up(library, "ncclGetVersion", nccl.get_version);
  look_up(library, "ncclGetErrorString", nccl.error_string);
  look_up(library, "ncclGetLastError", nccl.last_error);
  look_up(library, "ncclGetUniqueId", nccl.get_unique_id);
  look_up(library, "ncclCommInitRank", nccl.init_rank);
  look_up(library, "ncclCommDestroy", nccl.destroy);
  look_up(library, "ncclCommAbort", nccl.abort);
  look_up(library, "ncclCommGetAsyncError", nccl.async_error);
  look_up(library, "ncclGroupStart", nccl.group_start);
  look_up(library, "ncclGroupEnd", nccl.group_end);
  look_up(library, "ncclSend", nccl.send);
  look_up(library, "ncclRecv", nccl.receive);
  look_up(library, "ncclAllGather", nccl.all_gather);
  look_up(library, "ncclBroadcast", nccl.broadcast);
  return nccl;
}

}  // namespace

const NcclLibrary& nccl() {
  static const NcclLibrary library = loaded();
  return library;
}

}  // namespace annulus::comm
