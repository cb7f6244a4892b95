/// Deck keys of evaluation: [eval].
#pragma once
#include <string>
#include <vector>

#include "core/types.hpp"

namespace annulus::deck {
class Block;
}

namespace annulus::eval {

struct EvalKeys {
  index_t every = 0;        ///< steps between validations; 0: only at the end
  std::vector<index_t> at;  ///< further steps
  index_t windows = 16;     ///< sequences of the validation set that a validation reads
  void describe(deck::Block& block);
};

}  // namespace annulus::eval
