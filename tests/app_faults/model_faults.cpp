#include "app_faults/model_faults.hpp"

#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace annulus::test {

namespace {

/// Passes everything on.
class ForwardingModel : public model::Model {
 public:
  explicit ForwardingModel(std::unique_ptr<model::Model> inner) : inner_(std::move(inner)) {}
  const model::ModelConfig& config() const override { return inner_->config(); }
  const model::ParameterTable& parameters() const override { return inner_->parameters(); }
  const model::MemoryPlan& plan() const override { return inner_->plan(); }
  const char* attention_path() const override { return inner_->attention_path(); }
  Scalar state_type() const override { return inner_->state_type(); }
  Scalar compute_type() const override { return inner_->compute_type(); }
  void initialise(std::uint64_t seed) override { inner_->initialise(seed); }
  void accumulate(const cp::LocalBatch& batch, double weight, bool first, bool last) override {
    inner_->accumulate(batch, weight, first, last);
  }
  model::StepTicket update(const model::Update& update) override { return inner_->update(update); }
  model::StepNumbers gradients_only() override { return inner_->gradients_only(); }
  void evaluate(const cp::LocalBatch& batch, std::span<double> nll) override { inner_->evaluate(batch, nll); }
  void logits(const cp::LocalBatch& batch, index_t local_token, std::span<double> logits) override {
    inner_->logits(batch, local_token, logits);
  }
  void read(model::Arena arena, model::Stretch stretch, std::span<std::byte> out) const override {
    inner_->read(arena, stretch, out);
  }
  void write(model::Arena arena, model::Stretch stretch, std::span<const std::byte> in) override {
    inner_->write(arena, stretch, in);
  }
  void refresh_compute() override { inner_->refresh_compute(); }

 private:
  std::unique_ptr<model::Model> inner_;
};

class LateNumbers final : public ForwardingModel {
 public:
  using ForwardingModel::ForwardingModel;
  ~LateNumbers() override { std::fprintf(stderr, "asked after the next step: %d\n", late_); }

  model::StepTicket update(const model::Update& update) override {
    const auto numbers = ForwardingModel::update(update).numbers();
    return model::StepTicket([this, numbers, mine = ++updates_] {
      if (updates_ > mine + 1) throw std::logic_error("a ticket was kept too long");
      if (updates_ == mine + 1) ++late_;
      return numbers;
    });
  }

 private:
  int updates_ = 0, late_ = 0;
};

class NanInThirdStep final : public ForwardingModel {
 public:
  using ForwardingModel::ForwardingModel;
  model::StepTicket update(const model::Update& update) override {
    auto numbers = ForwardingModel::update(update).numbers();
    if (update.step == 3) numbers.nll_sum = std::nan("");
    return numbers;
  }
};

}  // namespace

std::unique_ptr<model::Model> with_late_numbers(std::unique_ptr<model::Model> model) {
  return std::make_unique<LateNumbers>(std::move(model));
}

std::unique_ptr<model::Model> with_nan_in_third_step(std::unique_ptr<model::Model> model) {
  return std::make_unique<NanInThirdStep>(std::move(model));
}

}  // namespace annulus::test
