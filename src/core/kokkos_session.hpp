/// Kokkos, from the first to the last view of a program.
#pragma once
#include <string>

namespace annulus {

class KokkosSession {
 public:
  /// threads: of this rank, on hosts. device: which of this machine's GPUs the rank takes (modulo how many there are).
  KokkosSession(int threads, int device);
  ~KokkosSession();
  KokkosSession(const KokkosSession&) = delete;
  KokkosSession& operator=(const KokkosSession&) = delete;

  /// "OpenMP, 2 threads", "Cuda, NVIDIA H200": where operators run.
  static std::string description();
  /// Why operators cannot run here ("no CUDA device: ..."); empty where they can. Does not need Kokkos to run.
  static std::string missing_device();
};

}  // namespace annulus
