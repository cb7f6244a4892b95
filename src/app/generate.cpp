#include "eval/generate.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "app/command.hpp"
#include "app/trained_model.hpp"
#include "core/log.hpp"
#include "io/tokenizer_record.hpp"

namespace annulus::app {

namespace {

class Generate final : public Command {
  const char* name() const override { return "generate"; }
  const char* summary() const override { return "continue a prompt with a trained model"; }

  void declare(Options& options) override {
    options_.declare(options);
    options.add("--prompt", prompt_, "text to continue (default: the beginning of a document)");
    options.add("--tokenizer", tokenizer_,
                "where the checkpoint's tokenizer lies now, as for tokenize (default: where the data were made)");
    options.add("--tokens", count_, "tokens to add").with_default().not_negative();
    options.add("--temperature", sampling_.temperature, "0: greedy, the most likely token each time")
        .with_default()
        .not_negative();
    options.add("--top-k", sampling_.top_k, "draw among the k most likely only; 0: among all")
        .with_default()
        .not_negative();
    options.add("--seed", sampling_.seed, "of the draws").with_default();
    options.footer(
        "Prints the prompt and what follows, on the mesh of the deck; each token costs a forward pass over the "
        "sequence length.\n\n"
        "Example:\n  mpiexec -n 2 annulus generate inputs/quickstart.toml --prompt \"The \" --tokens 200 --temperature "
        "0.8");
  }

  Exit run(const Seams& seams) override {
    return in_parallel([&](ParallelRun& parallel) { return write(parallel, seams); });
  }

  Exit write(ParallelRun& parallel, const Seams& seams) const {
    TrainedModel trained(options_, parallel, seams);
    auto& parts = trained.parts();
    const auto tokenizer = io::tokenizer_of(io::tokenizer_record(trained.info().tokenizer), tokenizer_);
    std::vector<std::int32_t> tokens = tokenizer->document_start();
    tokenizer->encode(prompt_, tokens);
    const auto print = [&](const std::string& bytes) {
      if (parts.mesh().rank() != 0) return;
      std::fwrite(bytes.data(), 1, bytes.size(), stdout);
      std::fflush(stdout);
    };
    print(prompt_);
    eval::generate(parts.model(), parts.layout(), parts.mesh(), sampling_, count_, tokenizer->end_of_text(), tokens,
                   [&](std::int32_t token) { print(tokenizer->bytes(token)); });
    print("\n");
    return Exit::done;
  }

  TrainedModelOptions options_;
  std::string prompt_, tokenizer_;
  index_t count_ = 200;
  eval::Sampling sampling_{.temperature = 0.8};
};

}  // namespace

std::unique_ptr<Command> generate_command() { return std::make_unique<Generate>(); }

}  // namespace annulus::app
