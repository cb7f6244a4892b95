#include "train/keys.hpp"

#include "core/text.hpp"
#include "deck/deck.hpp"

namespace annulus::train {

void RunKeys::describe(deck::Block& block) {
  block.doc("The run as a whole: everything it leaves behind lies in directory/name.");
  block.key("name", name).doc("name of the run and of its directory");
  block.key("directory", directory).doc("where runs are kept; relative to where the run is started");
  block.key("seed", seed).at_least(0).doc("of all random numbers: initial weights, order of the data");
  block.key("wall_minutes", wall_minutes)
      .unit("minutes")
      .at_least(0)
      .at_most(1e7)
      .doc("the run stops, resumable, after this long; 0: no limit");
  block.check({"name"}, [this]() -> std::string {
    const bool plain = !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
                       name.find('\0') == std::string::npos;
    return plain ? "" : text("run.name = \"", name, "\" must be the plain name of a directory, without \"/\"");
  });
  block.check({"directory"},
              [this]() -> std::string { return directory.empty() ? "run.directory is empty; \".\" is here" : ""; });
}

void TrainKeys::describe(deck::Block& block) {
  block.doc("Optimizer steps and how many tokens each takes.");
  block.key("steps", steps).unit("steps").at_least(1).at_most(1e12).doc("optimizer steps of the whole run");
  block.key("tokens_per_step", tokens_per_step)
      .unit("tokens")
      .at_least(0)
      .at_most(1e15)
      .doc(
          "tokens of an optimizer step over all ranks: micro_batch x dp x sequence_length x accumulation; 0: without "
          "accumulation");
  block.key("micro_batch", micro_batch)
      .unit("sequences")
      .at_least(1)
      .at_most(1 << 20)
      .doc("sequences that pass through the model together, on each dp rank");
  block.key("clip", clip).at_least(0).at_most(1e30).doc("gradients are scaled down to this global norm; 0: never");
}

void OptimizerKeys::describe(deck::Block& block) {
  block.doc("AdamW (Loshchilov & Hutter 2017).");
  block.key("beta1", beta1).at_least(0).below(1).doc("decay of the mean of gradients, per step");
  block.key("beta2", beta2).at_least(0).below(1).doc("decay of the mean of squared gradients, per step");
  block.key("decay", decay).at_least(0).at_most(1000).doc("weight decay of matrices, times the learning rate");
  block.key("eps", eps).above(0).at_most(1).doc("added to the root of the mean square");
}

void ScheduleKeys::describe(deck::Block& block) {
  block.doc("The learning rate over the steps.");
  block.key("shape", shape)
      .one_of({"cosine", "wsd", "constant"})
      .doc("after warm-up: cosine falls to the end; wsd stays at the peak and falls in a tail; constant stays");
  block.key("peak", peak).above(0).at_most(1e3).doc("highest learning rate");
  block.key("floor", floor)
      .needs("shape", {"cosine", "wsd"})
      .at_least(0)
      .at_most(1)
      .doc("learning rate of the last step, as a fraction of the peak");
  block.key("warmup", warmup).unit("steps").at_least(0).doc("steps over which the rate rises from 0 to the peak");
  block.key("decay_steps", decay_steps).needs("shape", {"wsd"}).unit("steps").at_least(0).doc("length of the tail");
  block.key("tail", tail)
      .needs("shape", {"wsd"})
      .one_of({"1-sqrt", "linear", "exponential", "cosine"})
      .doc("how the tail falls");
}

void DebugKeys::describe(deck::Block& block) {
  block.doc("Switches for finding faults.");
  block.key("jitter", jitter)
      .unit("microseconds")
      .at_least(0)
      .at_most(1e6)
      .doc("random delays, up to this long, of messages and of the work beside them; results must not change");
  block.later("dump", "writing intermediate tensors");
  block.later("replica_check", "comparing replicas of parameters every so many steps");
  block.later("sync_receive", "waiting for each receive where it is issued");
  block.later("drain_at", "draining all queues at named steps");
  block.later("sync_ring", "waiting after each ring step");
}

}  // namespace annulus::train
