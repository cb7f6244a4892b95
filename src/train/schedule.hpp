/// The learning rate of each step: the one function that the optimizer, the deck's checks and the plots all evaluate.
#pragma once
#include "train/keys.hpp"

namespace annulus::train {

/// Of step t (0 for the first) of `steps`:
///   t < warmup     peak (t + 1) / warmup
///   constant       peak
///   cosine         floor + (1 + cos(pi r)) / 2 (peak - floor),  r = (t - warmup) / (steps - warmup)
///                  (Loshchilov & Hutter 2017, eq. 5, one period)
///   wsd            peak until steps - decay_steps, then with r = (t - that) / decay_steps (Hu et al. 2024, MiniCPM)
///     1-sqrt       floor + (1 - sqrt(r)) (peak - floor)      (Haegele et al. 2024)
///     linear       floor + (1 - r) (peak - floor)
///     cosine       floor + (1 + cos(pi r)) / 2 (peak - floor)
///     exponential  peak (floor / peak)^r
/// where floor is schedule.floor * peak.
double learning_rate(const ScheduleKeys& schedule, index_t t, index_t steps);

}  // namespace annulus::train
