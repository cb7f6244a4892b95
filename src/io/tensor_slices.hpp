/// Which blocks of a full-shape tensor a rank owns. Its shard is a stretch of an arena, so of each tensor it owns a
/// range of elements in row-major order: the end of a row, whole rows, the beginning of a row.
#pragma once
#include <vector>

#include "io/hdf5.hpp"
#include "model/parameters.hpp"

namespace annulus::io {

/// What one call moves: `count` elements from `first` on, in the tensor's own order, which form a block.
struct Slice {
  index_t first, count;
  h5::Block block;
};

/// The elements of a tensor that a rank owns, in the tensor's own order; may be none.
model::Stretch owned_part(const model::ParameterTable& table, const model::Tensor& tensor, int rank);

/// Covers `part` of a tensor of one or two dimensions, in order, in blocks of at most `most` elements.
std::vector<Slice> slices(const std::vector<index_t>& shape, model::Stretch part, index_t most);

}  // namespace annulus::io
