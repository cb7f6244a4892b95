/// The memory that a plan asks for: one allocation per lifetime, and the views into it.
#pragma once
#include <array>
#include <cassert>
#include <cstddef>

#include "core/views.hpp"
#include "model/memory_plan.hpp"

namespace annulus::model {

/// Where a plan put a buffer of `count` elements of V.
template <class V>
struct Slot {
  Lifetime lifetime = Lifetime::scratch;
  index_t offset = 0, count = 0;
};

class Memory {
 public:
  /// Allocates, and zeroes what is persistent. The plan outlives this.
  Memory(const Exec& exec, const MemoryPlan& plan);

  const MemoryPlan& plan() const { return plan_; }
  std::byte* base(Lifetime lifetime) const {
    return lifetime == Lifetime::pinned ? pinned_.data() : allocations_[static_cast<int>(lifetime)].data();
  }

  template <class V>
  V* data(const Slot<V>& slot) const {
    return reinterpret_cast<V*>(base(slot.lifetime) + slot.offset);
  }
  /// The first `count` elements of a buffer: of a batch smaller than the largest, only a part is used.
  template <class V>
  Vector<V> vector(const Slot<V>& slot, index_t count) const {
    assert(count <= slot.count);
    return Vector<V>(data(slot), count);
  }
  template <class V>
  Vector<V> vector(const Slot<V>& slot) const {
    return vector(slot, slot.count);
  }
  template <class V>
  Matrix<V> matrix(const Slot<V>& slot, index_t rows, index_t columns) const {
    assert(rows * columns <= slot.count);
    return Matrix<V>(data(slot), rows, columns);
  }

 private:
  const MemoryPlan& plan_;
  std::array<Kokkos::View<std::byte*, Exec::memory_space>, 3> allocations_;  // persistent, saved, scratch
  Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace> pinned_;
};

/// A frame of the plan while it is in use. Debug builds fill it with NaN when it opens, so that nobody reads what an
/// earlier frame has left, and look at the red zones between buffers when it closes.
class Frame {
 public:
  Frame(const Memory& memory, const Exec& exec, const char* name);
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

 private:
  [[maybe_unused]] const Memory& memory_;
  [[maybe_unused]] const Exec& exec_;
  [[maybe_unused]] const char* const name_;
};

}  // namespace annulus::model
