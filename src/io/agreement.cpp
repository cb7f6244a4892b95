#include "io/agreement.hpp"

#include <utility>

#include "comm/mesh.hpp"

namespace annulus::io {

std::string Agreement::failure() {
  const index_t size = ranks_.size();
  const index_t lowest = size - comm::agree(ranks_, reason_.empty() ? 0 : size - ranks_.rank(), comm::Reduction::max);
  if (lowest == size) return {};
  return of(static_cast<int>(lowest), std::exchange(reason_, {}));
}

std::string Agreement::of(int rank, const std::string& mine) {
  const bool speaks = ranks_.rank() == rank;
  const index_t size = comm::agree(ranks_, speaks ? index_t(mine.size()) : 0, comm::Reduction::max);
  std::vector<index_t> words((size + 7) / 8, 0);  // the others' zeros leave the sum as it is
  if (speaks) mine.copy(reinterpret_cast<char*>(words.data()), mine.size());
  ranks_.agree({words.data(), index_t(words.size()), Scalar::int64}, comm::Reduction::sum);
  return {reinterpret_cast<const char*>(words.data()), static_cast<std::size_t>(size)};
}

std::vector<std::uint64_t> Agreement::sums(const std::vector<std::uint64_t>& mine) {
  std::vector<index_t> halves;  // sums of 32 bits do not overflow
  for (const std::uint64_t value : mine) {
    halves.push_back(static_cast<index_t>(value & 0xffffffffu));
    halves.push_back(static_cast<index_t>(value >> 32));
  }
  ranks_.agree({halves.data(), index_t(halves.size()), Scalar::int64}, comm::Reduction::sum);
  std::vector<std::uint64_t> sums;
  for (std::size_t n = 0; n < halves.size(); n += 2)
    sums.push_back(static_cast<std::uint64_t>(halves[n]) + (static_cast<std::uint64_t>(halves[n + 1]) << 32));
  return sums;
}

}  // namespace annulus::io
