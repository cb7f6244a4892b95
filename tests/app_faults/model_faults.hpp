/// Models that tell other numbers than they should, or later.
#pragma once
#include <memory>

#include "model/model.hpp"

namespace annulus::test {

/// As on a GPU: a step's numbers come when someone asks for them, until the second next step begins. When the model
/// goes it says on stderr how many were asked for only after the next step had been given out.
std::unique_ptr<model::Model> with_late_numbers(std::unique_ptr<model::Model> model);

/// The loss of the third step is no number.
std::unique_ptr<model::Model> with_nan_in_third_step(std::unique_ptr<model::Model> model);

}  // namespace annulus::test
