/// Deck keys of a training run: [run], [train], [optimizer], [schedule], [debug].
#pragma once
#include <string>

#include "core/types.hpp"

namespace annulus::deck {
class Block;
}

namespace annulus::train {

struct RunKeys {
  std::string name = "run", directory = "runs";  ///< the run lives in directory/name
  index_t seed = 1;
  double wall_minutes = 0;  ///< stop, resumable, after this long; 0: no limit
  void describe(deck::Block& block);
};

struct TrainKeys {
  index_t steps = 1000, tokens_per_step = 0, micro_batch = 1;  ///< tokens_per_step 0: one micro-batch per dp rank
  double clip = 1.0;                                           ///< 0: none
  void describe(deck::Block& block);
};

struct OptimizerKeys {
  double beta1 = 0.9, beta2 = 0.95, decay = 0.1, eps = 1e-8;
  void describe(deck::Block& block);
};

struct ScheduleKeys {
  std::string shape = "cosine";     ///< cosine | wsd | constant
  double peak = 3e-4, floor = 0.1;  ///< floor: fraction of the peak at the end
  index_t warmup = 0;               ///< steps
  index_t decay_steps = 0;          ///< wsd: length of the tail
  std::string tail = "1-sqrt";      ///< wsd: 1-sqrt | linear | exponential | cosine
  void describe(deck::Block& block);
};

/// No switch is built yet: all names are known and refused.
struct DebugKeys {
  double jitter = 0;  ///< microseconds
  void describe(deck::Block& block);
};

}  // namespace annulus::train
