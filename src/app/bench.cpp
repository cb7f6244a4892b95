/// `annulus bench`: rates of this machine beside what it could do.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/bench_attention.hpp"
#include "app/bench_gemm.hpp"
#include "app/bench_ops.hpp"
#include "app/bench_step.hpp"
#include "app/bench_tokenize.hpp"
#include "app/command.hpp"
#include "app/deck_options.hpp"
#include "app/parallel_run.hpp"
#include "core/kokkos_session.hpp"
#include "core/log.hpp"

namespace annulus::app {

namespace {

struct Subject {
  const char* name;
  const char* summary;
  std::vector<BenchRow> (*rows)(const Exec& exec);
};

constexpr Subject subjects[] = {
    {"attention", "attention forward and backward, beside a large matrix product", bench_attention},
    {"gemm", "matrix products in a model's shapes, beside oneDNN called directly", bench_gemm},
    {"ops", "norms, SwiGLU, AdamW and the like, beside the rate of a copy", bench_ops},
};

class Bench final : public Command {
  const char* name() const override { return "bench"; }
  const char* summary() const override { return "measure parts of the program beside what the machine could do"; }
  void declare(Options& options) override {
    std::string all = "what to measure:";
    std::vector<std::string> names;
    for (const Subject& subject : subjects) {
      all += fmt::format("\n  {}: {}", subject.name, subject.summary);
      names.push_back(subject.name);
    }
    all += "\n  step: a deck's optimizer step on random tokens, at the deck's mesh";
    all += "\n  tokenize: text to token ids, on one thread and on two";
    names.insert(names.end(), {"step", "tokenize"});
    options.add("SUBJECT", subject_, all).required().one_of(names);
    options.add("--deck", deck_.deck, "step: the deck to measure");
    options.add("--set", deck_.sets, "step: block.key=value replaces what the deck says; may be repeated")
        .one_at_a_time("KEY=VALUE");
    options.add("--steps", steps_, "step: how many to measure, after two").with_default().positive();
    options.add("--tokenizer", tokenizer_, "tokenize: as for annulus tokenize").with_default();
    options.add("--text", texts_, "tokenize: a file to encode; may be repeated").one_at_a_time("FILE");
    options.flag("--json", json_, "print JSON instead of a table");
    options.footer(
        "Times are medians over batches, taken in turns with the yardstick's. One rank.\n\n"
        "Example:\n"
        "  OMP_NUM_THREADS=2 annulus bench ops\n"
        "  mpiexec -n 2 annulus bench step --deck inputs/llama-tiny.toml --set mesh.ring=2\n"
        "  annulus bench tokenize --tokenizer gpt2:vocabularies/gpt2 --text book.txt --text program.cpp");
  }

  Exit run(const Seams&) override {
    if (subject_ == "step") return run_step();
    if (subject_ == "tokenize") return run_tokenize();
    if (!deck_.deck.empty()) throw Refused("annulus bench " + subject_ + " takes no deck: its shapes are its own");
    const auto& subject = *std::find_if(std::begin(subjects), std::end(subjects),
                                        [this](const Subject& each) { return each.name == subject_; });
    return in_parallel([&](ParallelRun& run) {
      if (run.ranks() > 1) throw Refused("annulus bench measures one rank: start it without mpiexec");
      const std::vector<BenchRow> rows = subject.rows(run.streams().compute());
      say(rows, KokkosSession::description());
      return Exit::done;
    });
  }

  Exit run_step() const {
    if (deck_.deck.empty()) throw Refused("annulus bench step needs --deck: the deck whose step to measure");
    const RunConfig config = deck_.config();
    return in_parallel([&](ParallelRun& run) {
      const auto rows = bench_step(config, run, steps_);
      say(rows, KokkosSession::description());
      return Exit::done;
    });
  }

  Exit run_tokenize() const {
    if (texts_.empty()) throw Refused("annulus bench tokenize needs --text: a file to encode");
    const auto rows = bench_tokenize(tokenizer_, texts_);
    say(rows, fmt::format("the host's processor, {} cores", std::thread::hardware_concurrency()));
    return Exit::done;
  }

  void say(const std::vector<BenchRow>& rows, const std::string& where) const {
    json_ ? say_json(rows, where) : say_table(rows, where);
  }

  void say_table(const std::vector<BenchRow>& rows, const std::string& where) const {
    log::say(where);
    log::say(fmt::format("{:<22} {:<4} {:<20} {:>10} {:>16} {:>16} {:>6}", subject_, "type", "shape", "ms", "rate",
                         rows.empty() ? "" : rows.back().yardstick, "ratio"));
    for (const BenchRow& row : rows)
      log::say(fmt::format("{:<22} {:<4} {:<20} {:>10.3f} {:>16} {:>16} {:>6}", row.name, row.type, row.shape,
                           1e3 * row.seconds, fmt::format("{:.1f} {}", row.rate, row.unit),
                           row.yardstick_rate > 0 ? fmt::format("{:.1f} {}", row.yardstick_rate, row.unit) : "-",
                           row.yardstick_rate > 0 ? fmt::format("{:.2f}", row.ratio()) : "-"));
  }

  void say_json(const std::vector<BenchRow>& rows, const std::string& where) const {
    nlohmann::ordered_json json = {{"subject", subject_}, {"where", where}};
    for (const BenchRow& row : rows)
      json["rows"].push_back({{"name", row.name},
                              {"type", row.type},
                              {"shape", row.shape},
                              {"seconds", row.seconds},
                              {"rate", row.rate},
                              {"unit", row.unit},
                              {"yardstick", row.yardstick},
                              {"yardstick_rate", row.yardstick_rate},
                              {"ratio", row.ratio()}});
    log::say(json.dump(2));
  }

  std::string subject_, tokenizer_ = "byte";
  std::vector<std::string> texts_;
  DeckOptions deck_;
  int steps_ = 9;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> bench_command() { return std::make_unique<Bench>(); }

}  // namespace annulus::app
