#include "app_faults/rotator_faults.hpp"

#include <map>
#include <utility>

#include "app_faults/device_values.hpp"

namespace annulus::test {

namespace {

class ForwardingRotator : public cp::Rotator {
 public:
  explicit ForwardingRotator(std::unique_ptr<Rotator> inner) : inner_(std::move(inner)) {}
  const char* name() const override { return inner_->name(); }
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  void begin(const Streams& streams, const Pass& pass) override {
    streams_ = &streams;
    pass_ = pass;
    inner_->begin(streams, pass);
  }
  Block block(int step) override { return inner_->block(step); }
  void add_gradient(int step, void* mine) override { inner_->add_gradient(step, mine); }
  const void* own_gradient() override { return inner_->own_gradient(); }

 protected:
  index_t tokens(int step) const { return pass_.tokens[(rank() - step + size()) % size()]; }

  std::unique_ptr<Rotator> inner_;
  const Streams* streams_ = nullptr;
  Pass pass_{};
};

class ScaledLastHop final : public ForwardingRotator {
 public:
  ScaledLastHop(std::unique_ptr<Rotator> inner, double factor) : ForwardingRotator(std::move(inner)), factor_(factor) {}
  void add_gradient(int step, void* mine) override {
    if (step > 0 && step == size() - 1)
      scale(streams_->compute(), pass_.gradient_type, mine, tokens(step) * pass_.gradients_per_token, factor_);
    inner_->add_gradient(step, mine);
  }

 private:
  double factor_;
};

class StaleRotator final : public ForwardingRotator {
 public:
  StaleRotator(std::unique_ptr<Rotator> inner, std::shared_ptr<const index_t> steps)
      : ForwardingRotator(std::move(inner)), steps_(std::move(steps)) {}

  void begin(const Streams& streams, const Pass& pass) override {
    passes_ = step_ == *steps_ ? passes_ + 1 : 0;
    step_ = *steps_;
    ForwardingRotator::begin(streams, pass);
  }

  Block block(int step) override {
    const Block fresh = inner_->block(step);
    if (step == 0) return fresh;  // the own block never travels
    auto& kept = kept_[{passes_, step}];
    if (step_ == 0) kept = copied(streams_->compute(), fresh.data, tokens(step) * pass_.bytes_per_token);
    return {fresh.owner, kept ? kept.get() : fresh.data};
  }

 private:
  std::shared_ptr<const index_t> steps_;
  index_t step_ = 0, passes_ = -1;  // the passes of this step so far
  std::map<std::pair<index_t, int>, std::shared_ptr<const void>> kept_;
};

class ZeroBlocks final : public ForwardingRotator {
 public:
  using ForwardingRotator::ForwardingRotator;
  Block block(int step) override {
    const index_t bytes = tokens(step) * pass_.bytes_per_token;
    if (bytes > most_) {
      zeros_ = zeros(bytes);
      most_ = bytes;
    }
    return {inner_->block(step).owner, zeros_.get()};
  }

 private:
  index_t most_ = 0;
  std::shared_ptr<const void> zeros_;
};

class Hoarder final : public ForwardingRotator {
 public:
  using ForwardingRotator::ForwardingRotator;

 private:
  std::shared_ptr<const void> stray_ = zeros(1000);
};

}  // namespace

std::unique_ptr<cp::Rotator> with_zero_blocks(std::unique_ptr<cp::Rotator> rotator) {
  return std::make_unique<ZeroBlocks>(std::move(rotator));
}

std::unique_ptr<cp::Rotator> with_stray_memory(std::unique_ptr<cp::Rotator> rotator) {
  return std::make_unique<Hoarder>(std::move(rotator));
}

std::unique_ptr<cp::Rotator> with_scaled_last_hop(std::unique_ptr<cp::Rotator> rotator, double factor) {
  return std::make_unique<ScaledLastHop>(std::move(rotator), factor);
}

std::unique_ptr<cp::Rotator> stale(std::unique_ptr<cp::Rotator> rotator, std::shared_ptr<const index_t> steps) {
  return std::make_unique<StaleRotator>(std::move(rotator), std::move(steps));
}

}  // namespace annulus::test
