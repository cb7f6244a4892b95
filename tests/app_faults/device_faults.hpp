/// What a steady step must not ask of a GPU: each once in every micro-batch, in the loader's place. None on hosts.
#pragma once
#include <map>
#include <string>

#include "app_faults/loader_faults.hpp"

namespace annulus::test {

///   malloc, free                       of device memory
///   pinned-malloc                      of host memory
///   blocking-copy, blocking-set        cudaMemcpy, cudaMemset
///   pageable-copy                      asynchronous by name alone
///   device-wait, stream-wait           cudaDeviceSynchronize, cudaStreamSynchronize
///   event-wait                         beside the one for the numbers of the step before
///   event-created
///   default-stream                     a kernel on the default instance of Kokkos
///   second-upload, second-download     asynchronous, pinned
///   unseen-launch                      a kernel past Kokkos
///   gigabyte                           of device memory, once
const std::map<std::string, AlterBatch>& device_faults();

}  // namespace annulus::test
