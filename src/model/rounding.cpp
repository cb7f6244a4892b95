#include "model/rounding.hpp"

#include <cmath>

namespace annulus::model {

namespace {

double left_by(index_t roundings) { return std::ldexp(1, -8) * std::sqrt(static_cast<double>(roundings) / 6); }

index_t forward_roundings(const ModelKeys& model) { return 11 * model.layers + 1; }

bool contains(const std::string& tensor, const char* part) { return tensor.find(part) != std::string::npos; }

/// "layers.3.ffn.up.weight": 3. The embedding lies below layer 0.
index_t layer_of(const std::string& tensor) { return contains(tensor, "layers.") ? std::stoll(tensor.substr(7)) : 0; }

double amplification(const std::string& tensor) {
  const bool softmax = contains(tensor, ".q.") || contains(tensor, ".k.") || contains(tensor, ".q_norm.") ||
                       contains(tensor, ".k_norm.") || contains(tensor, ".attention_norm.");
  return softmax ? 4 : 2;
}

}  // namespace

double bf16_gradient_error(const ModelKeys& model, const std::string& tensor) {
  const index_t above = forward_roundings(model) + 3;
  if (tensor == "head.weight" || tensor == "final_norm.gain") return left_by(above);
  return amplification(tensor) * left_by(above + 8 * (model.layers - layer_of(tensor)));
}

double bf16_loss_error(const ModelKeys& model) { return left_by(forward_roundings(model)); }

}  // namespace annulus::model
