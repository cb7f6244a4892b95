/// The codes of CUDA's calls, in CUDA builds.
#pragma once
#include <driver_types.h>

namespace annulus {

/// Throws Error(Exit::internal) unless `code` is success, naming the call.
void check_cuda(cudaError_t code, const char* call);

}  // namespace annulus
