#include "model/keys.hpp"

#include "core/text.hpp"
#include "deck/deck.hpp"

namespace annulus::model {

namespace {

constexpr double most_width = 1 << 20;

/// Which divisors of `number` lie nearest to `near`, which is none.
std::string nearest_divisors(index_t number, index_t near) {
  if (near > number) return text("the nearest that does is ", number);
  index_t below = near, above = near;
  while (number % below != 0) --below;
  while (number % above != 0) ++above;
  return text("the nearest that do are ", below, " and ", above);
}

}  // namespace

void ModelKeys::describe(deck::Block& block) {
  block.doc("The network: a decoder of the Llama family (RMSNorm, rotary positions, grouped queries, SwiGLU).");
  block.key("family", family)
      .one_of({"llama"})
      .later("gpt", "LayerNorm, learned positions and GELU")
      .doc("which kind of network");
  block.key("layers", layers).at_least(1).at_most(4096).doc("transformer blocks");
  block.key("width", width).at_least(1).at_most(most_width).doc("elements of a token's residual stream");
  block.key("heads", heads).at_least(1).at_most(4096).doc("query heads");
  block.key("kv_heads", kv_heads)
      .at_least(1)
      .at_most(4096)
      .doc("key and value heads; each serves heads / kv_heads query heads");
  block.key("head_dim", head_dim).at_least(2).at_most(4096).doc("elements of a head; even, as positions rotate pairs");
  block.key("ffn", ffn)
      .at_least(0)
      .at_most(4 * most_width)
      .doc("inner width of the SwiGLU; 0: 8/3 width, rounded up to a multiple of 256");
  block.key("vocabulary", vocabulary)
      .unit("tokens")
      .at_least(0)
      .at_most(1 << 24)
      .doc("rows of the embedding; 0: what the data's tokenizer has. More than it has is padding that is never read");
  block.key("tied", tied).doc("embedding and output projection are one matrix");
  block.key("qk_norm", qk_norm).doc("RMSNorm of each query and key head before its rotation");
  block.key("norm_eps", norm_eps).above(0).at_most(1).doc("added to the mean square of a norm");
  block.key("init_deviation", init_deviation)
      .above(0)
      .at_most(10)
      .doc(
          "standard deviation that matrices begin with; those that write to the residual stream are divided by "
          "sqrt(2 layers)");
  block.check({"kv_heads", "heads"}, [this]() -> std::string {
    if (heads % kv_heads == 0) return "";
    return text("model.kv_heads = ", kv_heads, " does not divide model.heads = ", heads, "; ",
                nearest_divisors(heads, kv_heads));
  });
  block.check({"head_dim"}, [this]() -> std::string {
    if (head_dim % 2 == 0) return "";
    return text("model.head_dim = ", head_dim, " is odd; rotary positions need pairs: ", head_dim - 1, " or ",
                head_dim + 1);
  });
}

void RopeKeys::describe(deck::Block& block) {
  block.doc("Rotary positions (Su et al. 2021).");
  block.key("theta", theta).above(1).at_most(1e12).doc("base of the wavelengths");
  block.key("scaling", scaling)
      .one_of({"none"})
      .later("linear", "positions beyond the trained length")
      .later("yarn", "positions beyond the trained length")
      .doc("how positions beyond the trained length are reached");
  block.later("factor", "by how much scaling stretches the trained length");
  block.later("original", "the trained length that scaling starts from");
}

void AttentionKeys::describe(deck::Block& block) {
  block.doc("How attention is computed and how sequences are shared.");
  block.key("kernel", kernel)
      .one_of({"auto", "portable", "reference"})
      .later("sm80", "tensor-core kernels for A100")
      .later("sm90", "tensor-core kernels for H100")
      .doc(
          "auto: the fastest that supports the shape; portable: tiled, on any device; reference: the definition, slow");
  block.key("mask", mask)
      .one_of({"causal", "full"})
      .doc("causal: a token sees itself and what comes before it; full: all tokens of its sequence or document");
  block.key("layout", layout)
      .one_of({"zigzag", "contiguous"})
      .later("balanced", "layouts by the cost of packed documents")
      .doc("which tokens a rank holds; zigzag gives each rank the same work under a causal mask");
  block.key("rotator", rotator)
      .one_of({"p2p"})
      .later("all-to-all", "other ways of moving keys and values")
      .later("all-gather", "other ways of moving keys and values")
      .doc("how keys and values travel: p2p passes them from neighbour to neighbour");
  block.key("window", window)
      .unit("tokens")
      .at_least(0)
      .doc("how far back a token sees; 0: no limit")
      .later_above(0, "sliding windows");
}

void PrecisionKeys::describe(deck::Block& block) {
  block.doc("Types of numbers. Master weights, gradients and moments are fp32, or fp64 where that computes.");
  block.key("compute", compute)
      .one_of({"fp32", "fp64", "bf16"})
      .doc("type of activations and of the weights that products read; with bf16, sums are carried in fp32");
  block.later("residual", "type of the residual stream where it is not the compute type");
  block.later("norms", "type of the norms' outputs where it is not the compute type");
  block.later("tf32", "TF32 products on GPUs");
}

void MemoryKeys::describe(deck::Block& block) {
  block.doc("What a layer keeps between its forward and its backward.");
  block.key("policy", policy)
      .one_of({"keep"})
      .later("recompute", "recomputation of activations")
      .later("offload", "activations in host memory")
      .doc("keep: everything that backward reads");
  block.later("offload", "which saved buffers go to host memory");
}

void OverlapKeys::describe(deck::Block& block) {
  block.doc("Transfers beside computation.");
  block.later("forward", "switching overlap off in forward");
  block.later("backward", "switching overlap off in backward");
  block.later("blocking", "waiting for each transfer where it is issued");
}

}  // namespace annulus::model
