#include "train/schedule.hpp"

#include <cassert>
#include <cmath>
#include <numbers>

namespace annulus::train {

namespace {

/// From 1 at r = 0 to 0 at r = 1.
double fall(const std::string& shape, double r) {
  if (shape == "linear") return 1 - r;
  if (shape == "1-sqrt") return 1 - std::sqrt(r);
  assert(shape == "cosine");
  return (1 + std::cos(std::numbers::pi * r)) / 2;
}

}  // namespace

double learning_rate(const ScheduleKeys& schedule, index_t t, index_t steps) {
  if (t < schedule.warmup) return schedule.peak * double(t + 1) / double(schedule.warmup);
  const double peak = schedule.peak, floor = schedule.floor * peak;
  if (schedule.shape == "cosine")
    return floor + fall("cosine", double(t - schedule.warmup) / double(steps - schedule.warmup)) * (peak - floor);
  const index_t decay_begin = steps - schedule.decay_steps;
  if (schedule.shape == "constant" || t < decay_begin) return peak;
  assert(schedule.shape == "wsd");
  const double r = double(t - decay_begin) / double(schedule.decay_steps);
  if (schedule.tail == "exponential") return peak * std::pow(schedule.floor, r);
  return floor + fall(schedule.tail, r) * (peak - floor);
}

}  // namespace annulus::train
