/// Included ahead of every CUDA file, of Kokkos's too: the three runtime calls of Kokkos 4.5 whose signatures CUDA 13
/// changed, in their old form on top of the new one.
#pragma once
#if defined(__CUDACC__) && __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>

#if CUDART_VERSION >= 13000

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                            size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

inline cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, int device) {
  return cudaMemAdvise(pointer, bytes, advice, cudaMemLocation{cudaMemLocationTypeDevice, device});
}

inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device, cudaStream_t stream = nullptr) {
  return cudaMemPrefetchAsync(pointer, bytes, cudaMemLocation{cudaMemLocationTypeDevice, device}, 0, stream);
}

#endif
#endif
