#include "ops/attention.hpp"

#include "core/bf16.hpp"
#include "core/error.hpp"
#include "ops/attention_kernels.hpp"

namespace annulus::ops {

namespace {

/// Why `kernel` cannot compute `shape`; empty when it can.
std::string refusal(const std::string& kernel, const AttentionShape& shape) {
  if (kernel == "sm80" || kernel == "sm90") return "is not built yet; \"auto\", \"portable\" and \"reference\" are";
  if (kernel != "auto" && kernel != "portable" && kernel != "reference")
    return "is not known; \"auto\", \"portable\" and \"reference\" are";
  if (shape.kv_heads < 1 || shape.q_heads < 1 || shape.q_heads % shape.kv_heads != 0)
    return "needs a number of query heads that its key heads divide, not " + std::to_string(shape.q_heads) + " and " +
           std::to_string(shape.kv_heads);
  if (shape.head_dim < 2 || shape.head_dim > 256 || shape.head_dim % 2 != 0)
    return "needs an even head dimension from 2 to 256, not " + std::to_string(shape.head_dim);
  return "";
}

}  // namespace

template <class T>
std::unique_ptr<Attention<T>> attention_kernel(const std::string& kernel, const AttentionShape& shape) {
  const std::string reason = refusal(kernel, shape);
  if (!reason.empty()) throw Refused("attention.kernel = \"" + kernel + "\" " + reason + ".");
  return kernel == "reference" ? reference_attention<T>() : portable_attention<T>();
}

template std::unique_ptr<Attention<float>> attention_kernel(const std::string&, const AttentionShape&);
template std::unique_ptr<Attention<double>> attention_kernel(const std::string&, const AttentionShape&);
template std::unique_ptr<Attention<bf16>> attention_kernel(const std::string&, const AttentionShape&);

}  // namespace annulus::ops
