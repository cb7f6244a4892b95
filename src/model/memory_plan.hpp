/// What a run allocates, buffer by buffer, before it allocates: the table that `annulus plan` prints and the run uses.
/// Persistent buffers live as long as the model; saves from a layer's forward to its backward; scratch lives in stack
/// frames (what a frame reserves is given back when it closes, so that later frames reuse the memory). Libraries' own
/// memory is listed and not part of the total.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace annulus::model {

/// pinned: host memory that a device copies from and to by itself; as persistent, and empty on hosts.
enum class Lifetime { persistent, saved, scratch, pinned, library };
/// Of each of these there is one allocation, unless it is empty.
inline constexpr Lifetime allocated_lifetimes[] = {Lifetime::persistent, Lifetime::saved, Lifetime::scratch,
                                                   Lifetime::pinned};

class MemoryPlan {
 public:
  static constexpr index_t alignment = 256;
  /// Bytes after each buffer that nobody may write; checked when a frame closes.
#ifdef NDEBUG
  static constexpr index_t red_zone = 0;
#else
  static constexpr index_t red_zone = 256;
#endif

  struct Row {
    std::string name;  ///< "layers.3.qkv"
    Lifetime lifetime;
    index_t offset;     ///< in the lifetime's allocation
    index_t bytes;      ///< without padding
    std::string until;  ///< what ends it: "the run", "layers.3 backward", the name of a frame
  };

  /// Returns the buffer's offset in its lifetime's allocation.
  index_t reserve(Lifetime lifetime, const std::string& name, index_t bytes, const std::string& until);
  /// Scratch frames nest; close_frame gives back what was reserved since the matching open_frame.
  void open_frame(const std::string& name);
  void close_frame();

  const std::vector<Row>& rows() const { return rows_; }
  /// Bytes of a lifetime's one allocation, alignment included (scratch: the deepest stack of frames).
  index_t bytes(Lifetime lifetime) const;
  /// persistent + saved + scratch: what is counted against the device.
  index_t total() const;
  /// Labels of the allocations, as Kokkos Tools sees them.
  static const char* label(Lifetime lifetime);
  /// The table, one line a row, totals last.
  std::string table() const;

 private:
  std::vector<Row> rows_;
  std::vector<std::pair<std::string, index_t>> frames_;
  index_t top_[5] = {}, peak_[5] = {};
};

}  // namespace annulus::model
