/// Loss by position: whether a model uses the context it has. A curve that falls or stays flat says yes; one that rises
/// beyond some length says that it does not work there.
#pragma once
#include <vector>

#include "comm/mesh.hpp"
#include "cp/sequence_layout.hpp"
#include "io/loader.hpp"
#include "model/model.hpp"

namespace annulus::eval {

/// Positions begin .. end - 1 of a window.
struct PositionBin {
  index_t begin = 0, end = 0;
  double nll_sum = 0;
  index_t tokens = 0;  ///< labels that counted
  double mean() const { return tokens > 0 ? nll_sum / double(tokens) : 0; }
};

struct PositionLoss {
  std::vector<PositionBin> bins;
  double nll_sum = 0;
  index_t tokens = 0;
  double mean() const { return tokens > 0 ? nll_sum / double(tokens) : 0; }
};

/// [0, 16), [16, 32), [32, 64), ... up to `length`.
std::vector<PositionBin> doubling_bins(index_t length);

/// Over windows 0 .. windows - 1 of `loader`, shared out over dp; collective over the mesh, the same result on all
/// ranks.
PositionLoss position_loss(model::Model& model, const io::Loader& loader, const cp::SequenceLayout& layout,
                           const comm::Mesh& mesh, index_t windows);

}  // namespace annulus::eval
