#include "model/memory.hpp"

#include <cstdlib>

#include "core/log.hpp"
#include "core/text.hpp"

namespace annulus::model {

namespace {

using Bytes = Kokkos::View<std::byte*, Exec::memory_space>;
using PinnedBytes = Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace>;

Bytes allocated(const Exec& exec, const MemoryPlan& plan, Lifetime lifetime) {
  const std::string label = MemoryPlan::label(lifetime);
  if (lifetime == Lifetime::persistent) return Bytes(Kokkos::view_alloc(exec, label), plan.bytes(lifetime));
  return Bytes(Kokkos::view_alloc(exec, label, Kokkos::WithoutInitializing), plan.bytes(lifetime));
}

#ifndef NDEBUG

constexpr std::byte poison{0xff};  // repeated, a NaN in every type
constexpr std::byte guard{0xa5};

/// From the end of a row's buffer to where the next one begins.
Bytes red_zone(const Memory& memory, const MemoryPlan::Row& row) {
  const index_t rest = (MemoryPlan::alignment - row.bytes % MemoryPlan::alignment) % MemoryPlan::alignment;
  return Bytes(memory.base(row.lifetime) + row.offset + row.bytes, rest + MemoryPlan::red_zone);
}

void fill(const Exec& exec, Bytes bytes, std::byte value) {
  Kokkos::parallel_for(
      "annulus::model::fill", Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, bytes.extent(0)),
      KOKKOS_LAMBDA(index_t n) { bytes(n) = value; });
}

void check_red_zone(const Exec& exec, const Memory& memory, const MemoryPlan::Row& row) {
  const Bytes zone = red_zone(memory, row);
  index_t changed = 0;
  Kokkos::parallel_reduce(
      "annulus::model::check_red_zone", Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, zone.extent(0)),
      KOKKOS_LAMBDA(index_t n, index_t & sum) { sum += zone(n) != guard; }, changed);
  if (changed == 0) return;
  log::error(text("something wrote ", changed, " bytes past the end of the buffer ", row.name));
  std::abort();
}

#endif

}  // namespace

Memory::Memory(const Exec& exec, const MemoryPlan& plan)
    : plan_(plan),
      allocations_{allocated(exec, plan, Lifetime::persistent), allocated(exec, plan, Lifetime::saved),
                   allocated(exec, plan, Lifetime::scratch)} {
  if (const index_t bytes = plan.bytes(Lifetime::pinned); bytes > 0)
    pinned_ = PinnedBytes(
        Kokkos::view_alloc(std::string(MemoryPlan::label(Lifetime::pinned)), Kokkos::WithoutInitializing), bytes);
#ifndef NDEBUG
  for (const MemoryPlan::Row& row : plan.rows())
    if (row.lifetime == Lifetime::persistent || row.lifetime == Lifetime::saved)
      fill(exec, red_zone(*this, row), guard);
#endif
}

#ifdef NDEBUG

Frame::Frame(const Memory& memory, const Exec& exec, const char* name) : memory_(memory), exec_(exec), name_(name) {}
Frame::~Frame() = default;

#else

Frame::Frame(const Memory& memory, const Exec& exec, const char* name) : memory_(memory), exec_(exec), name_(name) {
  for (const MemoryPlan::Row& row : memory.plan().rows()) {
    if (row.lifetime != Lifetime::scratch || row.until != name) continue;
    fill(exec, Bytes(memory.base(row.lifetime) + row.offset, row.bytes), poison);
    fill(exec, red_zone(memory, row), guard);
  }
}

Frame::~Frame() {
  for (const MemoryPlan::Row& row : memory_.plan().rows())
    if (row.lifetime == Lifetime::persistent || row.lifetime == Lifetime::saved || row.until == name_)
      check_red_zone(exec_, memory_, row);
}

#endif

}  // namespace annulus::model
