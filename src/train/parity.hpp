/// Whether a mesh trains as one rank does: both take the same steps on the same data, and loss, gradient norm and every
/// gradient tensor are compared after each. Gradients are compared in full, because a cosine or a norm hides errors.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "train/optimizer_step.hpp"

namespace annulus::train {

struct TensorDifference {
  std::string name;
  double difference;  ///< ||a - b|| / max(||b||, 1e-3 ||all gradients of b||)
};

/// What differences may reach.
struct Tolerance {
  double numbers;                                       ///< of the loss and the norm, relative
  std::function<double(const std::string&)> gradients;  ///< of the named tensor's gradient
};

/// After one step; the same on all ranks.
struct StepParity {
  index_t step;
  double loss, reference_loss;
  double norm, reference_norm;
  std::vector<TensorDifference> tensors;  ///< largest first
  double loss_difference() const;         ///< relative
  double norm_difference() const;         ///< relative
  bool holds(const Tolerance& tolerance) const;
};

struct ParitySchedule {
  index_t steps = 3, micro_batch = 1, accumulation = 1;  ///< accumulation: of the mesh
  model::Update update;                                  ///< of each step; `step` is counted here
};

/// Both models begin alike. `alone` is a mesh of one rank, built on every rank of `mesh`, so that each compares the
/// gradients that it owns. Where it computes in another type it takes the parameters that `mesh` computes with before
/// every step, so that each step compares gradients at the same point. Collective over `mesh`; calls `each` after every
/// step.
void compare_steps(const Feed& mesh, const Feed& alone, const ParitySchedule& schedule,
                   const std::function<void(const StepParity&)>& each);

}  // namespace annulus::train
