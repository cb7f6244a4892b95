#include "io/tensor_slices.hpp"

#include <algorithm>
#include <cassert>

namespace annulus::io {

model::Stretch owned_part(const model::ParameterTable& table, const model::Tensor& tensor, int rank) {
  const model::Stretch owned = table.owned(rank, tensor.bucket);
  const index_t begin = std::max(owned.begin, tensor.offset);
  const index_t end = std::min(owned.end(), tensor.offset + tensor.count);
  return {begin < end ? begin - tensor.offset : 0, std::max<index_t>(end - begin, 0)};
}

std::vector<Slice> slices(const std::vector<index_t>& shape, model::Stretch part, index_t most) {
  assert((shape.size() == 1 || shape.size() == 2) && most > 0);
  const index_t width = shape.back();
  std::vector<Slice> slices;
  for (index_t first = part.begin; first < part.end();) {
    const index_t row = first / width, column = first % width;
    const index_t rows = column == 0 ? std::min(part.end() - first, most) / width : 0;
    const index_t columns = rows > 0 ? width : std::min({width - column, part.end() - first, most});
    const index_t count = std::max<index_t>(rows, 1) * columns;
    if (shape.size() == 1)
      slices.push_back({first, count, {{column}, {columns}}});
    else
      slices.push_back({first, count, {{row, column}, {std::max<index_t>(rows, 1), columns}}});
    first += count;
  }
  return slices;
}

}  // namespace annulus::io
