/// Counts, step by step, what a process asks of CUDA's driver, by whichever library: CUPTI tells of every call, also of
/// cuBLASLt's and NCCL's, which bring a runtime of their own. A Kokkos Tools library (KOKKOS_TOOLS_LIBS), which learns
/// where steps begin. When Kokkos ends it writes "step name calls bytes" lines to $ANNULUS_DRIVER_CALLS, with the rank
/// appended where a launcher gave one; what lies before the first step is step 0.
#include <cupti.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::mutex mutex;  // NCCL's threads call too

/// By step; never destroyed, because the driver is called to the very end.
std::vector<std::map<std::string, long>>& steps() {
  static auto* const all = new std::vector<std::map<std::string, long>>(1);
  return *all;
}

void count(const std::string& what) {
  const std::lock_guard lock(mutex);
  ++steps().back()[what];
}

bool begins(std::string_view name, std::string_view with) { return name.substr(0, with.size()) == with; }
bool contains(std::string_view name, std::string_view part) { return name.find(part) != name.npos; }

/// Of a call of the driver by its name; empty for those that a step may make.
const char* kind_of(std::string_view name) {
  const bool later = contains(name, "Async");
  for (const char* allocates : {"cuMemAlloc", "cuMemHostAlloc", "cuMemHostRegister", "cuMemCreate", "cuMemMap"})
    if (begins(name, allocates)) return "malloc";
  for (const char* frees : {"cuMemFree", "cuMemRelease", "cuMemHostUnregister", "cuMemUnmap"})
    if (begins(name, frees)) return "free";
  for (const char* waits : {"cuCtxSynchronize", "cuStreamSynchronize"})
    if (begins(name, waits)) return "synchronise";
  if (begins(name, "cuEventSynchronize")) return "wait_for_event";
  if (begins(name, "cuMemcpy") && !later) return "blocking_copy";
  if (begins(name, "cuMemset") && !later) return "blocking_set";
  if (begins(name, "cuEventCreate") || begins(name, "cuStreamCreate")) return "create";
  if (begins(name, "cuEventDestroy") || begins(name, "cuStreamDestroy")) return "destroy";
  return "";
}

/// Work on a stream that waits for the legacy default stream, and makes it wait.
void count_launch(CUstream stream) {
  count("launch");
  unsigned flags = CU_STREAM_DEFAULT;
  if (stream && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD) cuStreamGetFlags(stream, &flags);
  if (!(flags & CU_STREAM_NON_BLOCKING)) count("default_stream");
}

void CUPTIAPI called(void*, CUpti_CallbackDomain, CUpti_CallbackId id, const void* data) {
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite != CUPTI_API_ENTER) return;
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      return count_launch(static_cast<const cuLaunchKernel_params*>(call.functionParams)->hStream);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      return count_launch(static_cast<const cuLaunchKernelEx_params*>(call.functionParams)->config->hStream);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      return count_launch(static_cast<const cuLaunchCooperativeKernel_params*>(call.functionParams)->hStream);
    default:
      if (const char* const kind = kind_of(call.functionName); *kind) {
        count(kind);
        count(call.functionName);
      }
  }
}

/// Without the callbacks there would be nothing to count, which must not look like a step that asks for nothing.
void check(CUptiResult code, const char* call) {
  if (code == CUPTI_SUCCESS) return;
  const char* reason = nullptr;
  cuptiGetResultString(code, &reason);
  std::fprintf(stderr, "count_driver_calls: %s: %s\n", call, reason ? reason : "unknown error");
  std::abort();
}

struct ToolSettings {  // as Kokkos Tools defines it
  bool requires_global_fencing;
  bool padding[255];
};

}  // namespace

extern "C" void kokkosp_init_library(int, std::uint64_t, std::uint32_t, void*) {
  CUpti_SubscriberHandle subscriber;
  check(cuptiSubscribe(&subscriber, called, nullptr), "cuptiSubscribe");
  check(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API), "cuptiEnableDomain");
}
/// Else Kokkos fences before and after all that it tells.
extern "C" void kokkosp_request_tool_settings(std::uint32_t, ToolSettings* settings) {
  settings->requires_global_fencing = false;
}
extern "C" void kokkosp_push_profile_region(const char* name) {
  if (std::strcmp(name, "annulus::train::step") != 0) return;
  const std::lock_guard lock(mutex);
  steps().emplace_back();
}
extern "C" void kokkosp_finalize_library() {
  const char* const name = std::getenv("ANNULUS_DRIVER_CALLS");
  if (!name) return;
  std::string file_name = name;
  if (const char* const rank = std::getenv("PMI_RANK")) file_name += std::string(".") + rank;
  const std::lock_guard lock(mutex);
  if (std::FILE* const file = std::fopen(file_name.c_str(), "w")) {
    for (std::size_t step = 0; step < steps().size(); ++step)
      for (const auto& [what, calls] : steps()[step]) std::fprintf(file, "%zu %s %ld 0\n", step, what.c_str(), calls);
    std::fclose(file);
  }
}
