#include <fmt/format.h>

#include <algorithm>

#include "app/assembly.hpp"
#include "app/command.hpp"
#include "app/deck_options.hpp"
#include "app/parallel_run.hpp"
#include "comm/self_communicator.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "model/rounding.hpp"
#include "train/parity.hpp"

namespace annulus::app {

namespace {

/// Small enough that every rank can hold the whole of it, with everything that could go wrong: several layers, the
/// deck's heads and their sharing, a length that no number of ranks divides, documents as the deck has them,
/// accumulation.
RunConfig reduced(RunConfig config, bool deck_precision) {
  auto& model = config.model;
  model.ffn = std::min<index_t>(model.ffn_width(), 160);
  model.layers = std::min<index_t>(model.layers, 3);
  model.width = std::min<index_t>(model.width, 96);
  model.head_dim = std::min<index_t>(model.head_dim, 16);
  config.data.sequence_length = std::min<index_t>(config.data.sequence_length, 127);
  config.train.micro_batch = std::min<index_t>(config.train.micro_batch, 2);
  const index_t accumulation = std::min<index_t>(config.accumulation(), 2);
  config.train.tokens_per_step = config.train.micro_batch * config.mesh.dp * config.data.sequence_length * accumulation;
  if (!deck_precision) config.precision.compute = "fp64";
  return config;
}

/// bf16 rounds away what another order of sums changes, and more: its gradients are held to fp64's.
RunConfig alone(RunConfig config) {
  config.mesh.dp = config.mesh.ring = config.mesh.ulysses = 1;
  if (config.precision.compute == "bf16") config.precision.compute = "fp64";
  return config;
}

train::Tolerance tolerance_of(const model::Model& model) {
  if (model.compute_type() != Scalar::bf16) {
    const double tolerance = model.state_type() == Scalar::fp64 ? 1e-10 : 1e-4;
    return {tolerance, [tolerance](const std::string&) { return tolerance; }};
  }
  constexpr double one_draw = 3;  // the errors are given in the mean square
  const auto keys = model.config().model;
  return {one_draw * model::bf16_loss_error(keys),
          [keys](const std::string& tensor) { return one_draw * model::bf16_gradient_error(keys, tensor); }};
}

class Verify final : public Command {
  const char* name() const override { return "verify"; }
  const char* summary() const override { return "prove that a deck's mesh trains as one rank does"; }

  void declare(Options& options) override {
    deck_.declare(options);
    options.add("--steps", steps_, "optimizer steps to compare, each on fresh data").with_default().between(1, 1000);
    options.flag("--deck-precision", deck_precision_,
                 "compute in the deck's precision instead of fp64, with its rounding as the tolerance");
    options.flag("--json", json_, "one JSON object per step instead of text");
    options.footer(
        "Trains the deck's mesh and one rank side by side on a reduced shape and on the deck's data, and compares "
        "loss, gradient\n"
        "norm and every gradient tensor after each step: ||a - b|| <= tolerance * max(||b||, 1e-3 ||all gradients||). "
        "In bf16\n"
        "the one rank computes in fp64 with the same rounded parameters. Nothing is written. Exit code 0 when all "
        "agree, 4 when not.\n\n"
        "Example:\n  mpiexec -n 2 annulus verify inputs/quickstart.toml --steps 3");
  }

  Exit run(const Seams& seams) override {
    return in_parallel([&](ParallelRun& parallel) { return compare(parallel, seams); });
  }

  Exit compare(ParallelRun& parallel, const Seams& seams) const {
    const RunConfig config = reduced(deck_.config(), deck_precision_);
    check_ranks(config, parallel.ranks());
    Assembly mesh(config, parallel.world(), parallel.streams(), seams);
    Assembly one(alone(config), comm::self_communicator("alone"), parallel.streams(), Seams{});
    mesh.model().initialise(config.run.seed);
    one.model().initialise(config.run.seed);

    const train::Tolerance tolerance = tolerance_of(mesh.model());
    print_head(config, mesh, tolerance);
    bool holds = true;
    const train::ParitySchedule schedule{
        .steps = steps_,
        .micro_batch = config.train.micro_batch,
        .accumulation = config.accumulation(),
        .update = {
            .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decay = 0.1, .clip = config.train.clip, .step = 0}};
    train::compare_steps(mesh.feed(), one.feed(), schedule, [&](const train::StepParity& parity) {
      print_step(parity, tolerance);
      holds = holds && parity.holds(tolerance);
    });
    if (!json_)
      log::say(holds ? "verified: this mesh trains as one rank does"
                     : "NOT verified: this mesh does not train as one rank does");
    return holds ? Exit::done : Exit::failed;
  }

  void print_head(const RunConfig& config, Assembly& mesh, const train::Tolerance& tolerance) const {
    if (json_) return;
    const auto& shape = mesh.mesh().shape();
    log::say(fmt::format(
        "dp {} x ring {} ({}, {} rotator) beside one rank: {} layers, width {}, {}/{} heads of {}, T {}, "
        "accumulation {}, {}, tolerance {:.0e}{}",
        shape.dp, shape.ring, config.attention.layout, mesh.rotator().name(), config.model.layers, config.model.width,
        config.model.heads, config.model.kv_heads, config.model.head_dim, config.data.sequence_length,
        config.accumulation(), name_of(mesh.model().compute_type()), tolerance.numbers,
        mesh.model().compute_type() == Scalar::bf16 ? ", of gradients by tensor, beside fp64" : ""));
  }

  void print_step(const train::StepParity& parity, const train::Tolerance& tolerance) const {
    const auto& worst = parity.tensors.front();
    if (json_) {
      log::say(fmt::format(
          R"({{"step": {}, "loss": {:.17g}, "reference_loss": {:.17g}, "norm": {:.17g}, "reference_norm": {:.17g}, )"
          R"("worst_tensor": "{}", "worst_difference": {:.3e}, "holds": {}}})",
          parity.step, parity.loss, parity.reference_loss, parity.norm, parity.reference_norm, worst.name,
          worst.difference, parity.holds(tolerance)));
      return;
    }
    log::say(fmt::format(
        "step {}  loss {:.9f} (differs by {:.1e})  norm {:.9f} ({:.1e})  worst of {} gradients {:.1e} in {}",
        parity.step, parity.loss, parity.loss_difference(), parity.norm, parity.norm_difference(),
        parity.tensors.size(), worst.difference, worst.name));
    for (std::size_t n = 1; n < parity.tensors.size() && n < 6; ++n)
      if (const auto& [tensor, difference] = parity.tensors[n]; difference > tolerance.gradients(tensor))
        log::say(fmt::format("        then {:.1e} in {}", difference, tensor));
  }

  DeckOptions deck_;
  index_t steps_ = 3;
  bool deck_precision_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> verify_command() { return std::make_unique<Verify>(); }

}  // namespace annulus::app
