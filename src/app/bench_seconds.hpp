/// Times of a call and of its yardstick, taken in turns: what else the machine does meets both alike.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "core/views.hpp"

namespace annulus::app {

/// Seconds of one call of each, medians over `batches` batches after one that warms up. A batch takes 10 ms or more.
template <class Call, class Yardstick>
std::pair<double, double> median_seconds(const Exec& exec, const Call& call, const Yardstick& yardstick,
                                         int batches = 21) {
  const auto batch = [&](const auto& function, int calls) {
    exec.fence();
    const Kokkos::Timer timer;
    for (int n = 0; n < calls; ++n) function();
    exec.fence();
    return timer.seconds() / calls;
  };
  const auto calls_in_batch = [&](const auto& function) {
    batch(function, 1);
    return static_cast<int>(std::clamp(0.01 / batch(function, 1), 1.0, 1000.0));
  };
  const auto median = [](std::vector<double> samples) {
    std::nth_element(samples.begin(), samples.begin() + samples.size() / 2, samples.end());
    return samples[samples.size() / 2];
  };
  const int calls = calls_in_batch(call), yardstick_calls = calls_in_batch(yardstick);
  std::vector<double> samples, yardstick_samples;
  for (int n = 0; n < batches; ++n) {
    samples.push_back(batch(call, calls));
    yardstick_samples.push_back(batch(yardstick, yardstick_calls));
  }
  return {median(samples), median(yardstick_samples)};
}

}  // namespace annulus::app
