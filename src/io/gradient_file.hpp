/// One step's batch, loss and gradients in an HDF5 file, so that a program that shares no code with this one can form
/// them again: docs/verification.md says what the file holds, tools/torch_parity.py reads it.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "io/loader.hpp"
#include "model/model.hpp"

namespace annulus::io {

struct GradientRecord {
  std::string deck;  ///< resolved, as text
  index_t step = 0;  ///< of the checkpoint that the parameters came from
  std::string git;
  std::vector<Sample> rows;  ///< all of the step's, whole
  double loss = 0;           ///< mean nll over all tokens with a label
  double gradient_norm = 0;  ///< of all gradients together, before clipping
  index_t valid_tokens = 0;  ///< tokens with a label
};

/// Collective over the mesh's world: the gradients as they are after Model::gradients_only, in their full shapes.
/// Throws Error(Exit::internal) with the reason when writing fails.
void write_gradients(const std::filesystem::path& file, const model::Model& model, const GradientRecord& record,
                     comm::Communicator& world);

}  // namespace annulus::io
