/// Communicators of every kind over all ranks of a test, and memory that they serve.
#pragma once
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <tuple>

#include "comm/communicator.hpp"
#include "comm/mpi_communicator.hpp"
#include "comm/nccl_communicator.hpp"
#include "comm/self_communicator.hpp"
#include "comm/staged_communicator.hpp"
#include "core/bf16.hpp"
#include "core/views.hpp"
#include "support/views.hpp"

namespace annulus::test {

template <class T>
constexpr Scalar scalar = std::is_same_v<T, bf16>     ? Scalar::bf16
                          : std::is_same_v<T, float>  ? Scalar::fp32
                          : std::is_same_v<T, double> ? Scalar::fp64
                          : sizeof(T) == 4            ? Scalar::int32
                                                      : Scalar::int64;

struct Mpi {
  using Space = Kokkos::HostSpace;
  static std::unique_ptr<comm::Communicator> world() { return comm::world_communicator(); }
};
struct Staged {
  using Space = Exec::memory_space;
  static std::unique_ptr<comm::Communicator> world() { return comm::staged_communicator(comm::world_communicator()); }
};
/// Needs NCCL and a GPU for each rank, or one that they may share.
struct Nccl {
  using Space = Exec::memory_space;
  static std::unique_ptr<comm::Communicator> world() {
    auto host = comm::world_communicator();
    if (host->size() < 2) SKIP("needs two ranks");
    if (const std::string obstacle = comm::nccl_obstacle(*host, comm::GpuSharing::allowed); !obstacle.empty()) {
      if (std::getenv("ANNULUS_NCCL_EXPECTED")) FAIL(obstacle);
      SKIP(obstacle);
    }
    return comm::nccl_communicator(std::move(host));
  }
};
struct Self {
  using Space = Exec::memory_space;
  static std::unique_ptr<comm::Communicator> world() { return comm::self_communicator("self"); }
};

/// Those between ranks, and all.
#ifdef ANNULUS_CUDA
using BetweenRanks = std::tuple<Mpi, Staged, Nccl>;
using AllKinds = std::tuple<Mpi, Staged, Nccl, Self>;
#else
using BetweenRanks = std::tuple<Mpi, Staged>;
using AllKinds = std::tuple<Mpi, Staged, Self>;
#endif

/// An array in the memory of a kind of communicator.
template <class Kind, class T>
struct Array {
  Kokkos::View<T*, typename Kind::Space> view;
  explicit Array(const Numbers& values) : view("array", values.size()) { upload(values, view); }
  operator comm::Values() const { return {view.data(), index_t(view.size()), scalar<T>}; }
  operator comm::ConstValues() const { return {view.data(), index_t(view.size()), scalar<T>}; }
  comm::Values part(index_t begin, index_t count) const { return {view.data() + begin, count, scalar<T>}; }
  Numbers numbers() const { return download(view); }
};

}  // namespace annulus::test
