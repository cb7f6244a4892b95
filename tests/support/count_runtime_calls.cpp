/// Counts, step by step, what a program asks of CUDA's runtime, from outside: loaded before the program (LD_PRELOAD) it
/// stands in front of the runtime's functions, and as a Kokkos Tools library (KOKKOS_TOOLS_LIBS) it learns where steps
/// begin and which kernels Kokkos launches. When Kokkos ends it writes "step name calls bytes" lines to
/// $ANNULUS_RUNTIME_CALLS; what lies before the first step is step 0. Libraries with a runtime of their own (cuBLASLt,
/// NCCL) are not seen.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

struct Calls {
  long calls = 0, bytes = 0;
};

/// By step; never destroyed, because the runtime is called to the very end.
std::vector<std::map<std::string, Calls>>& steps() {
  static auto* const all = new std::vector<std::map<std::string, Calls>>(1);
  return *all;
}

void count(const char* what, std::size_t bytes = 0) {
  Calls& calls = steps().back()[what];
  ++calls.calls;
  calls.bytes += static_cast<long>(bytes);
}

/// The function that this library stands in front of.
template <class Function>
Function* behind(const char* name) {
  auto* const function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  if (function) return function;
  std::fprintf(stderr, "count_runtime_calls: no %s behind this library\n", name);
  std::abort();
}

/// Work on a stream that waits for the legacy default stream, and makes it wait.
void count_stream(cudaStream_t stream) {
  static auto* const get_flags = behind<decltype(cudaStreamGetFlags)>("cudaStreamGetFlags");
  unsigned flags = cudaStreamDefault;
  const bool of_its_own = stream && stream != cudaStreamLegacy && stream != cudaStreamPerThread;
  if (of_its_own) get_flags(stream, &flags);
  if (!(flags & cudaStreamNonBlocking)) count("default_stream");
}

enum class Memory { pageable, pinned, device };
Memory memory_of(const void* pointer) {
  static auto* const get_attributes = behind<decltype(cudaPointerGetAttributes)>("cudaPointerGetAttributes");
  cudaPointerAttributes attributes{};
  if (get_attributes(&attributes, pointer) != cudaSuccess) return Memory::pageable;
  if (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged) return Memory::device;
  return attributes.type == cudaMemoryTypeHost ? Memory::pinned : Memory::pageable;
}

void count_copy(const void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  const Memory source = memory_of(from), target = memory_of(to);
  count_stream(stream);
  if (source == Memory::pageable || target == Memory::pageable) count("pageable_copy", bytes);
  if (source != Memory::device && target == Memory::device) count("upload", bytes);
  if (source == Memory::device && target != Memory::device) count("download", bytes);
}

}  // namespace

// The runtime's function NAME is counted as WHAT and then called.
#define COUNTED(name, what, parameters, arguments)                   \
  extern "C" cudaError_t name parameters {                           \
    static auto* const next = behind<cudaError_t parameters>(#name); \
    what;                                                            \
    return next arguments;                                           \
  }

COUNTED(cudaMalloc, count("malloc", size), (void** pointer, std::size_t size), (pointer, size))
COUNTED(cudaMallocAsync, count("malloc", size), (void** pointer, std::size_t size, cudaStream_t stream),
        (pointer, size, stream))
COUNTED(cudaMallocFromPoolAsync, count("malloc", size),
        (void** pointer, std::size_t size, cudaMemPool_t pool, cudaStream_t stream), (pointer, size, pool, stream))
COUNTED(cudaMallocManaged, count("malloc", size), (void** pointer, std::size_t size, unsigned flags),
        (pointer, size, flags))
COUNTED(cudaMallocHost, count("malloc", size), (void** pointer, std::size_t size), (pointer, size))
COUNTED(cudaHostAlloc, count("malloc", size), (void** pointer, std::size_t size, unsigned flags),
        (pointer, size, flags))
COUNTED(cudaHostRegister, count("malloc", size), (void* pointer, std::size_t size, unsigned flags),
        (pointer, size, flags))
COUNTED(cudaFree, count("free"), (void* pointer), (pointer))
COUNTED(cudaFreeAsync, count("free"), (void* pointer, cudaStream_t stream), (pointer, stream))
COUNTED(cudaFreeHost, count("free"), (void* pointer), (pointer))
COUNTED(cudaHostUnregister, count("free"), (void* pointer), (pointer))

COUNTED(cudaMemcpy, count("blocking_copy", size), (void* to, const void* from, std::size_t size, cudaMemcpyKind kind),
        (to, from, size, kind))
COUNTED(cudaMemcpyToSymbol, count("blocking_copy", size),
        (const void* symbol, const void* from, std::size_t size, std::size_t offset, cudaMemcpyKind kind),
        (symbol, from, size, offset, kind))
COUNTED(cudaMemcpyFromSymbol, count("blocking_copy", size),
        (void* to, const void* symbol, std::size_t size, std::size_t offset, cudaMemcpyKind kind),
        (to, symbol, size, offset, kind))
COUNTED(cudaMemset, count("blocking_set", size), (void* to, int value, std::size_t size), (to, value, size))
COUNTED(cudaMemcpyAsync, count_copy(to, from, size, stream),
        (void* to, const void* from, std::size_t size, cudaMemcpyKind kind, cudaStream_t stream),
        (to, from, size, kind, stream))
COUNTED(cudaMemcpyToSymbolAsync, (count_stream(stream), count("upload", size)),
        (const void* symbol, const void* from, std::size_t size, std::size_t offset, cudaMemcpyKind kind,
         cudaStream_t stream),
        (symbol, from, size, offset, kind, stream))
COUNTED(cudaMemsetAsync, count_stream(stream), (void* to, int value, std::size_t size, cudaStream_t stream),
        (to, value, size, stream))

COUNTED(cudaDeviceSynchronize, count("synchronise"), (), ())
COUNTED(cudaStreamSynchronize, count("synchronise"), (cudaStream_t stream), (stream))
COUNTED(cudaEventSynchronize, count("wait_for_event"), (cudaEvent_t event), (event))
COUNTED(cudaEventCreate, count("create"), (cudaEvent_t * event), (event))
COUNTED(cudaEventCreateWithFlags, count("create"), (cudaEvent_t * event, unsigned flags), (event, flags))
COUNTED(cudaEventDestroy, count("destroy"), (cudaEvent_t event), (event))
COUNTED(cudaStreamCreate, count("create"), (cudaStream_t * stream), (stream))
COUNTED(cudaStreamCreateWithFlags, count("create"), (cudaStream_t * stream, unsigned flags), (stream, flags))
COUNTED(cudaStreamDestroy, count("destroy"), (cudaStream_t stream), (stream))

COUNTED(cudaLaunchKernel, (count_stream(stream), count("launch")),
        (const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t stream),
        (function, grid, block, arguments, shared, stream))
COUNTED(cudaLaunchKernelExC, (count_stream(config->stream), count("launch")),
        (const cudaLaunchConfig_t* config, const void* function, void** arguments), (config, function, arguments))
// what the stubs of nvcc 13 call
COUNTED(__cudaLaunchKernel, (count_stream(stream), count("launch")),
        (cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t stream),
        (kernel, grid, block, arguments, shared, stream))

// Kokkos Tools

namespace {

struct ToolSettings {  // as Kokkos Tools defines it
  bool requires_global_fencing;
  bool padding[255];
};

/// Kokkos's kernels on the device, in launches; the device's type is in the highest byte.
void count_kernels(std::uint32_t device, int launches) {
  constexpr std::uint32_t cuda = 2;
  if (device >> 24 == cuda)
    for (int n = 0; n < launches; ++n) count("kernel");
}

}  // namespace

/// Else Kokkos fences before and after all that it tells.
extern "C" void kokkosp_request_tool_settings(std::uint32_t, ToolSettings* settings) {
  settings->requires_global_fencing = false;
}
extern "C" void kokkosp_push_profile_region(const char* name) {
  if (std::strcmp(name, "annulus::train::step") == 0) steps().emplace_back();
}
extern "C" void kokkosp_begin_parallel_for(const char*, std::uint32_t device, std::uint64_t*) {
  count_kernels(device, 1);
}
extern "C" void kokkosp_begin_parallel_reduce(const char*, std::uint32_t device, std::uint64_t*) {
  count_kernels(device, 1);
}
extern "C" void kokkosp_begin_parallel_scan(const char*, std::uint32_t device, std::uint64_t*) {
  count_kernels(device, 2);  // the sums of blocks, then the values
}

extern "C" void kokkosp_finalize_library() {
  const char* const name = std::getenv("ANNULUS_RUNTIME_CALLS");
  if (!name) return;
  if (std::FILE* const file = std::fopen(name, "w")) {
    for (std::size_t step = 0; step < steps().size(); ++step)
      for (const auto& [what, calls] : steps()[step])
        std::fprintf(file, "%zu %s %ld %ld\n", step, what.c_str(), calls.calls, calls.bytes);
    std::fclose(file);
  }
}
