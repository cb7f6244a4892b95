/// Text that goes on from a prompt, one token at a time, on the mesh that the model was trained on.
#pragma once
#include <functional>
#include <vector>

#include "comm/mesh.hpp"
#include "cp/sequence_layout.hpp"
#include "model/model.hpp"

namespace annulus::eval {

struct Sampling {
  double temperature = 0;  ///< 0: greedy, always the most likely token
  index_t top_k = 0;       ///< draw among the k most likely only; 0: among all
  std::uint64_t seed = 1;
};

/// Index of the drawn token; `position` numbers the draws. Ties go to the smaller id.
std::int32_t sampled_token(std::vector<double> logits, const Sampling& sampling, std::uint64_t position);

/// Appends `count` tokens to `tokens`, calling `each` for every one (on all ranks alike). The model sees at most its
/// sequence length; when a text outgrows it, the window moves on by half. Each token costs a forward pass of the
/// window. `restart` is the end-of-text id, which the model sees where the prompt is empty. Collective over the mesh.
void generate(model::Model& model, const cp::SequenceLayout& layout, const comm::Mesh& mesh, const Sampling& sampling,
              index_t count, std::int32_t restart, std::vector<std::int32_t>& tokens,
              const std::function<void(std::int32_t)>& each);

}  // namespace annulus::eval
