#include "eval/keys.hpp"

#include "deck/deck.hpp"

namespace annulus::eval {

void EvalKeys::describe(deck::Block& block) {
  const char* const data = "data.validation";
  block.doc("Validation during training. A run with validation data always ends with one.");
  block.key("every", every).needs(data).unit("steps").at_least(0).at_most(1e12).doc("0: only at the end");
  block.key("at", at).needs(data).unit("steps").at_least(1).at_most(1e12).doc("further steps after which to validate");
  block.key("windows", windows)
      .needs(data)
      .unit("sequences")
      .at_least(1)
      .at_most(1e9)
      .doc("how much of the validation data is read");
}

}  // namespace annulus::eval
