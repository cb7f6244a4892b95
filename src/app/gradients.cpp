#include <fmt/format.h>

#include "app/command.hpp"
#include "app/trained_model.hpp"
#include "app/version.hpp"
#include "core/log.hpp"
#include "io/gradient_file.hpp"

namespace annulus::app {

namespace {

class Gradients final : public Command {
  const char* name() const override { return "gradients"; }
  const char* summary() const override { return "write a checkpoint's loss and gradients on the next batch to a file"; }

  void declare(Options& options) override {
    options_.declare(options);
    options.add("--out", file_, "the HDF5 file to write").required();
    options.footer(
        "One micro-batch of each dp rank, the samples with which the run would go on; nothing is trained. "
        "tools/torch_parity.py\n"
        "forms the same loss and gradients with PyTorch and compares.\n\n"
        "Example:\n"
        "  mpiexec -n 2 annulus gradients inputs/quickstart.toml --out gradients.h5\n"
        "  tools/torch_parity.py CHECKPOINT gradients.h5");
  }

  Exit run(const Seams& seams) override {
    return in_parallel([&](ParallelRun& parallel) { return write(parallel, seams); });
  }

  Exit write(ParallelRun& parallel, const Seams& seams) const {
    TrainedModel trained(options_, parallel, seams);
    auto& parts = trained.parts();
    const auto& config = trained.config();
    const auto& mesh = parts.mesh();
    const index_t rows = config.train.micro_batch, first = trained.info().counters.sample;

    io::GradientRecord record{.deck = config.text,
                              .step = trained.info().counters.step,
                              .git = git_version,
                              .rows = {},
                              .loss = 0,
                              .gradient_norm = 0,
                              .valid_tokens = 0};
    for (index_t g = first; g < first + rows * mesh.shape().dp; ++g) {
      record.rows.push_back(parts.training().sample(g));
      record.valid_tokens += parts.training().valid_tokens(g);
    }
    const double weight = record.valid_tokens > 0 ? 1 / double(record.valid_tokens) : 0;
    const index_t mine = first + mesh.dp_rank() * rows;
    parts.model().accumulate(parts.training().batch(mine, rows, parts.layout(), mesh.ring_rank()), weight, true, true);
    const auto numbers = parts.model().gradients_only();
    record.loss = numbers.nll_sum * weight;
    record.gradient_norm = numbers.gradient_norm;
    io::write_gradients(file_, parts.model(), record, parts.mesh().world());
    log::say(fmt::format("{}: step {}, {} tokens with a label, loss {:.9f}, norm {:.9f}", file_,
                         trained.info().counters.step, record.valid_tokens, record.loss, record.gradient_norm));
    return Exit::done;
  }

  TrainedModelOptions options_;
  std::string file_;
};

}  // namespace

std::unique_ptr<Command> gradients_command() { return std::make_unique<Gradients>(); }

}  // namespace annulus::app
