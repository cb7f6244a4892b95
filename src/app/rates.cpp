#include "app/rates.hpp"

#include <algorithm>

#include "comm/mesh.hpp"
#include "comm/staged_communicator.hpp"
#include "core/streams.hpp"
#include "core/views.hpp"
#include "ops/gemm.hpp"

namespace annulus::app {

namespace {

/// Of the best of seven batches of `calls`, in which all ranks begin together; the slowest rank's.
template <class Call>
double seconds(const Exec& exec, comm::Communicator& world, int calls, const Call& call) {
  double best = 1e300;
  for (int batch = 0; batch < 7; ++batch) {
    world.barrier();
    const Kokkos::Timer timer;
    for (int n = 0; n < calls; ++n) call();
    exec.fence();
    best = std::min(best, timer.seconds() / calls);
  }
  return comm::agree(world, best, comm::Reduction::max);
}

double copy_rate(const Exec& exec, comm::Communicator& world) {
  const Vector<float> from("annulus::app::from", 1 << 24), to("annulus::app::to", 1 << 24);
  return 2e-9 * from.size() * sizeof(float) / seconds(exec, world, 1, [&] { Kokkos::deep_copy(exec, to, from); });
}

double gemm_rate(const Exec& exec, comm::Communicator& world) {
  const index_t n = 1024;
  const Matrix<float> a("annulus::app::a", n, n), b("annulus::app::b", n, n), c("annulus::app::c", n, n);
  Kokkos::deep_copy(exec, a, 1.0f);
  Kokkos::deep_copy(exec, b, 1.0f);
  return 2e-9 * n * n * n /
         seconds(exec, world, 1, [&] { ops::Gemm<float>::run(exec, a, b, Into::overwrite, ops::Operand<float>(c)); });
}

double hop_seconds(const Exec& exec, comm::Communicator& world, index_t bytes, int calls) {
  const auto ring = comm::on_device(world.split(0, world.rank(), "ring"));
  const Vector<float> sent("annulus::app::sent", bytes / 4), received("annulus::app::received", bytes / 4);
  const int ranks = ring->size(), next = (ring->rank() + 1) % ranks, previous = (ring->rank() + ranks - 1) % ranks;
  return seconds(exec, world, calls, [&] {
    ring->send_recv(exec, {sent.data(), bytes / 4, Scalar::fp32}, next, {received.data(), bytes / 4, Scalar::fp32},
                    previous)
        .wait(exec);
  });
}

}  // namespace

Rates measured_rates(comm::Communicator& world) {
  const Streams streams;
  const Exec& exec = streams.compute();
  Rates rates{copy_rate(exec, world), gemm_rate(exec, world), 0, 0};
  if (world.size() > 1) {
    const index_t block = index_t(1) << 23;
    rates.ring_gb_s = 1e-9 * block / hop_seconds(exec, world, block, 4);
    rates.ring_us = 1e6 * hop_seconds(exec, world, 1024, 100);
  }
  return rates;
}

}  // namespace annulus::app
