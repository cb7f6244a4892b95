/// What bf16 compute leaves of a gradient: its distance from that of fp64 arithmetic on the same, rounded parameters.
///
/// A tensor that is rounded to bf16 gets a relative error of d = 2^-8 / sqrt(6) (uniform within half an ulp, of values
/// whose squares are 2 on average in units of their power of two). The roundings between the tokens and a gradient are
/// independent, so N of them leave a d sqrt(N), where a is by how much the way amplifies:
///   N   forward 11 a layer and 1, loss 3 (d logits, d norm, d x), backward 8 a layer down to the tensor's own
///   a   1 for the head and the last norm, which see the forward errors linearly; 2 below them, since the norms' and
///       SwiGLU's slopes err with what they are taken at; 4 for what acts through softmax (projections and norms of
///       queries and keys, the norm before them), whose gradient p (dp - sum p dp) is a difference
/// Sums, statistics, losses and gradients of parameters are fp32 and do not count.
#pragma once
#include <string>

#include "model/keys.hpp"

namespace annulus::model {

/// Of ||found - exact|| / max(||exact||, 1e-3 ||all gradients||), in the mean square over draws; one tensor of few
/// elements can lie at some three times that.
///   tensor  a parameter's name
double bf16_gradient_error(const ModelKeys& model, const std::string& tensor);
/// Of the relative error of a loss and of the gradients' norm.
double bf16_loss_error(const ModelKeys& model);

}  // namespace annulus::model
