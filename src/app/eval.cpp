#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/command.hpp"
#include "app/trained_model.hpp"
#include "core/log.hpp"
#include "eval/bigram.hpp"
#include "eval/position_loss.hpp"

namespace annulus::app {

namespace {

/// All tokens of a loader's windows, in their order.
std::vector<std::int32_t> all_tokens(const io::Loader& loader) {
  std::vector<std::int32_t> tokens;
  for (index_t g = 0; g < loader.samples_per_epoch(); ++g) {
    const auto sample = loader.sample(g);
    tokens.insert(tokens.end(), sample.tokens.begin() + (g > 0), sample.tokens.end());  // neighbours share one
  }
  return tokens;
}

class Eval final : public Command {
  const char* name() const override { return "eval"; }
  const char* summary() const override { return "validation loss of a checkpoint, by position in the context"; }

  void declare(Options& options) override {
    options_.declare(options);
    options.add("--windows", windows_,
                "sequences of the validation set to read (default: the deck's eval.windows; 0: all)");
    options.flag("--bigram", bigram_, "beside it, the best interpolated bigram model of the same text");
    options.add("--margin", margin_, "exit with 4 unless the loss is this many nats below the bigram model's")
        .needs("--bigram");
    options.flag("--json", json_, "one JSON object instead of a table");
    options.footer(
        "A curve that falls with the position says that the model uses its context. The bigram model (counts on the "
        "training\n"
        "set, interpolation weights fitted on a held-out part of it, evaluated on the same validation windows) is what "
        "a model\n"
        "reaches that only knows which token follows which.\n\n"
        "Example:\n  mpiexec -n 2 annulus eval inputs/quickstart.toml --bigram");
  }

  Exit run(const Seams& seams) override {
    return in_parallel([&](ParallelRun& parallel) { return evaluate(parallel, seams); });
  }

  Exit evaluate(ParallelRun& parallel, const Seams& seams) const {
    TrainedModel trained(options_, parallel, seams);
    auto& parts = trained.parts();
    if (!parts.validation()) throw Refused("the deck names no data.validation to evaluate on");
    const auto& validation = *parts.validation();
    const index_t all = validation.samples_per_epoch();
    const index_t asked = windows_ < 0 ? trained.config().eval.windows : windows_;
    const index_t windows = asked == 0 ? all : std::min(asked, all);

    double bigram = 0;
    if (bigram_) {
      const eval::BigramModel model(all_tokens(parts.training()), validation.vocabulary());
      double sum = 0;
      for (index_t g = 0; g < windows; ++g) sum += model.cross_entropy(validation.sample(g).tokens);
      bigram = sum / double(windows);
    }
    const auto loss = eval::position_loss(parts.model(), validation, parts.layout(), parts.mesh(), windows);
    const bool enough = margin_ <= 0 || loss.mean() <= bigram - margin_;
    if (json_)
      log::say(as_json(trained, loss, bigram));
    else
      print(trained, loss, windows, bigram, enough);
    return enough ? Exit::done : Exit::failed;
  }

  void print(const TrainedModel& trained, const eval::PositionLoss& loss, index_t windows, double bigram,
             bool enough) const {
    log::say(fmt::format("checkpoint of step {}, {} windows, {} tokens", trained.info().counters.step, windows,
                         loss.tokens));
    log::say("  position          tokens   mean nll        ppl");
    for (const auto& bin : loss.bins)
      log::say(fmt::format("{:>6} - {:<6} {:>10} {:>10.4f} {:>10.3f}", bin.begin, bin.end - 1, bin.tokens, bin.mean(),
                           std::exp(bin.mean())));
    log::say(fmt::format("validation loss   {:.4f} nats", loss.mean()));
    if (!bigram_) return;
    log::say(fmt::format("bigram model      {:.4f} nats", bigram));
    log::say(
        fmt::format("difference        {:.4f} nats{}", bigram - loss.mean(),
                    margin_ <= 0 ? "" : fmt::format(", {} the {:g} asked for", enough ? "at least" : "NOT", margin_)));
  }

  std::string as_json(const TrainedModel& trained, const eval::PositionLoss& loss, double bigram) const {
    nlohmann::json bins = nlohmann::json::array();
    for (const auto& bin : loss.bins)
      bins.push_back({{"begin", bin.begin}, {"end", bin.end}, {"tokens", bin.tokens}, {"nll", bin.mean()}});
    nlohmann::json result = {
        {"step", trained.info().counters.step}, {"tokens", loss.tokens}, {"loss", loss.mean()}, {"positions", bins}};
    if (bigram_) result["bigram"] = bigram;
    return result.dump();
  }

  TrainedModelOptions options_;
  index_t windows_ = -1;
  bool bigram_ = false, json_ = false;
  double margin_ = 0;
};

}  // namespace

std::unique_ptr<Command> eval_command() { return std::make_unique<Eval>(); }

}  // namespace annulus::app
