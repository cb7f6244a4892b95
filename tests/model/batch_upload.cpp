/// Batches that are uploaded faster than they are used.
#include "model/batch_upload.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/views.hpp"

using namespace annulus;
using namespace annulus::model;
using namespace annulus::test;

namespace {

constexpr index_t most = 4096;

/// Batch b of an endless series, of varying size; every value names its batch, part and place.
cp::LocalBatch numbered(index_t b) {
  cp::LocalBatch batch;
  batch.rows = 1 + b % 2;
  batch.tokens_per_row = b % 7 == 3 ? 0 : most / 2 - 37 * (b % 5);
  for (index_t n = 0; n < batch.rows * batch.tokens_per_row; ++n) {
    batch.tokens.push_back(static_cast<std::int32_t>(b * 1000003 + n));
    batch.labels.push_back(static_cast<std::int32_t>(b * 1000003 - n));
    batch.positions.push_back(b * 5000000029 + n);
    batch.visible_begin.push_back(b * 5000000029 - n);
    batch.visible_end.push_back(b * 7000000001 + n);
  }
  return batch;
}

/// A device is busy for a third of a millisecond: longer than a host takes for the next batch.
KOKKOS_INLINE_FUNCTION void linger() {
  KOKKOS_IF_ON_DEVICE((for (const long long begin = clock64(); clock64() - begin < 600000;);))
}

/// Adds to `wrong` how much differs from numbered(b), lingering before it looks.
void check(const Exec& exec, const DeviceBatch& batch, index_t b, Vector<index_t> wrong) {
  Kokkos::parallel_for(
      "annulus::test::check_batch", Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, batch.size()),
      KOKKOS_LAMBDA(index_t n) {
        linger();
        const bool same = batch.tokens(n) == static_cast<std::int32_t>(b * 1000003 + n) &&
                          batch.labels(n) == static_cast<std::int32_t>(b * 1000003 - n) &&
                          batch.positions(n) == b * 5000000029 + n && batch.visible_begin(n) == b * 5000000029 - n &&
                          batch.visible_end(n) == b * 7000000001 + n;
        if (!same) Kokkos::atomic_inc(&wrong(0));
      });
}

/// A copy that is given to `copy` from now on is late.
void delay(const Exec& copy) {
  Kokkos::parallel_for(
      "annulus::test::delay", Kokkos::RangePolicy<Exec>(copy, 0, 1), KOKKOS_LAMBDA(int) {
        for (int n = 0; n < 4; ++n) linger();
      });
}

}  // namespace

TEST_CASE("batch upload: each of many batches arrives whole and stays until it has been used", "[model]") {
  const Streams streams;
  const index_t bytes = BatchUpload::blocks * BatchUpload::block_bytes(most);
  const Vector<std::byte> device("annulus::test::device", bytes);
  const Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace> pinned("annulus::test::pinned", on_gpu ? bytes : 0);
  const Vector<index_t> wrong("annulus::test::wrong", 1);
  Kokkos::deep_copy(device, std::byte{0xff});
  BatchUpload upload(streams, device.data(), pinned.data(), most);
  std::vector<cp::LocalBatch> batches;
  for (index_t b = 0; b < 200; ++b) batches.push_back(numbered(b));
  for (index_t b = 0; b < 200; ++b) {
    if (b % 10 == 9) delay(streams.copy());
    const DeviceBatch batch = upload.next(batches[b]);
    REQUIRE(batch.size() == batch.rows * batch.tokens_per_row);
    check(streams.compute(), batch, b, wrong);
  }
  Kokkos::fence();
  index_t differences = -1;
  Kokkos::deep_copy(differences, Kokkos::subview(wrong, 0));
  CHECK(differences == 0);
}
