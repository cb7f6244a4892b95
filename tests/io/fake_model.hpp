/// A model that is only its parameters, in host memory, with values that tell where they belong.
#pragma once
#include <cassert>
#include <cstring>
#include <map>

#include "model/model.hpp"

namespace annulus::test {

class FakeModel final : public model::Model {
 public:
  using Arena = model::Arena;

  /// Odd shapes over three buckets, fused storage among them; on `world` ranks no edge of a shard is an edge of a row.
  static model::ParameterTable table(int world) {
    model::ParameterTable table(world);
    const auto add = [&table](const char* name, std::vector<index_t> shape, bool aligned = true) {
      index_t count = 1;
      for (const index_t n : shape) count *= n;
      table.add({.name = name, .shape = std::move(shape), .count = count, .initial = {}}, aligned);
    };
    table.begin_bucket();
    add("norm", {67});
    add("head", {101, 67});
    table.begin_bucket();
    add("layers.0.attention.q", {37, 67});
    add("layers.0.attention.k", {5, 67}, false);
    add("layers.0.attention.v", {5, 67}, false);
    add("layers.0.norm", {1});
    table.begin_bucket();
    add("embedding", {3, 1501});
    table.close();
    return table;
  }

  FakeModel(model::ParameterTable table, int rank, Scalar compute, Scalar state)
      : table_(std::move(table)), rank_(rank), compute_(compute), state_(state) {
    for (const Arena arena : {Arena::compute, Arena::master, Arena::m, Arena::v})
      values_[arena].assign(table_.size() * size_of(type(arena)), std::byte{0xff});
  }
  FakeModel(int world, int rank, Scalar compute = Scalar::fp32, Scalar state = Scalar::fp32)
      : FakeModel(table(world), rank, compute, state) {}

  /// Gives every owned element its own bits, which depend on `step` but not on the mesh.
  FakeModel& fill(index_t step) {
    for_each_owned([&](Arena arena, std::byte* at, std::uint64_t bits) {
      bits += static_cast<std::uint64_t>(step) * 0x9e3779b97f4a7c15u;
      std::memcpy(at, &bits, size_of(type(arena)));
    });
    return *this;
  }
  /// Whether every owned element has the bits that fill(step) gives. The compute copy is its master's, so not looked
  /// at.
  bool holds(index_t step) {
    bool all = true;
    for_each_owned([&](Arena arena, const std::byte* at, std::uint64_t bits) {
      bits += static_cast<std::uint64_t>(step) * 0x9e3779b97f4a7c15u;
      all = all && (arena == Arena::compute || std::memcmp(at, &bits, size_of(type(arena))) == 0);
    });
    return all;
  }
  int refreshed = 0;
  mutable int reads_until_failure = -1;  ///< then read() throws; -1: never

  const model::ModelConfig& config() const override { return config_; }
  const model::ParameterTable& parameters() const override { return table_; }
  const model::MemoryPlan& plan() const override { return plan_; }
  const char* attention_path() const override { return "none"; }
  Scalar state_type() const override { return state_; }
  Scalar compute_type() const override { return compute_; }
  void initialise(std::uint64_t) override {}
  void accumulate(const cp::LocalBatch&, double, bool, bool) override {}
  model::StepTicket update(const model::Update&) override { return model::StepNumbers{}; }
  model::StepNumbers gradients_only() override { return {}; }
  void evaluate(const cp::LocalBatch&, std::span<double>) override {}
  void logits(const cp::LocalBatch&, index_t, std::span<double>) override {}
  void refresh_compute() override { ++refreshed; }

  void read(Arena arena, model::Stretch stretch, std::span<std::byte> out) const override {
    if (reads_until_failure >= 0 && reads_until_failure-- == 0) throw std::runtime_error("the device is gone");
    check(arena, stretch, out.size());
    std::memcpy(out.data(), values_.at(arena).data() + stretch.begin * size_of(type(arena)), out.size());
  }
  void write(Arena arena, model::Stretch stretch, std::span<const std::byte> in) override {
    check(arena, stretch, in.size());
    std::memcpy(values_.at(arena).data() + stretch.begin * size_of(type(arena)), in.data(), in.size());
  }

 private:
  Scalar type(Arena arena) const { return arena == Arena::compute ? compute_ : state_; }

  /// A shard holds nothing of other ranks: to ask for it is a mistake.
  void check(Arena arena, model::Stretch stretch, std::size_t bytes) const {
    if (index_t(bytes) != stretch.count * size_of(type(arena))) throw std::logic_error("bytes do not fit the stretch");
    if (stretch.count == 0 || arena == Arena::compute) return;
    for (int b = 0; b < static_cast<int>(table_.buckets().size()); ++b) {
      const auto own = table_.owned(rank_, b);
      if (own.begin <= stretch.begin && stretch.end() <= own.end()) return;
    }
    throw std::logic_error("the stretch is not in this rank's shard");
  }

  template <class Body>
  void for_each_owned(const Body& body) {
    for (auto& [arena, values] : values_)
      for (std::size_t t = 0; t < table_.tensors().size(); ++t) {
        const model::Tensor& tensor = table_.tensors()[t];
        const auto own = table_.owned(rank_, tensor.bucket);
        for (index_t n = 0; n < tensor.count; ++n) {
          const index_t at = tensor.offset + n;
          if (at < own.begin || at >= own.end()) continue;
          const std::uint64_t place = (static_cast<std::uint64_t>(arena) * 100 + t) * 1'000'003 + n + 1;
          body(arena, values.data() + at * size_of(type(arena)), place * 0xd1342543de82ef95u);
        }
      }
  }

  model::ParameterTable table_;
  int rank_;
  Scalar compute_, state_;
  std::map<Arena, std::vector<std::byte>> values_;
  model::ModelConfig config_;
  model::MemoryPlan plan_;
};

}  // namespace annulus::test
