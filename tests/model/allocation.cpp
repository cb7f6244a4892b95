/// What a model allocates, as Kokkos Tools counts it, against its memory plan.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <map>
#include <string>

#include "core/views.hpp"
#include "model/rig.hpp"
#include "support/ranks.hpp"

using namespace annulus;
using namespace annulus::model;
using namespace annulus::test;

namespace {

std::map<std::string, index_t> counted;  ///< bytes by label

/// Counts every allocation through Kokkos in the memories that are planned, except Kokkos's own and what messages
/// without NCCL take, while it lives.
struct Counting {
  Counting() {
    counted.clear();
    Kokkos::Tools::Experimental::set_allocate_data_callback([](Kokkos::Profiling::SpaceHandle space, const char* label,
                                                               const void*, std::uint64_t size) {
      const std::string name = space.name;
      const bool planned = name == Exec::memory_space::name() || name == Kokkos::SharedHostPinnedSpace::name();
      const bool own = std::string(label).rfind("Kokkos::", 0) != 0 && label != std::string("annulus::comm::staging");
      if (planned && own) counted[label] += static_cast<index_t>(size);
    });
  }
  ~Counting() { Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr); }
};

std::map<std::string, index_t> by_label(const MemoryPlan& plan) {
  std::map<std::string, index_t> bytes;
  for (const Lifetime lifetime : allocated_lifetimes)
    if (plan.bytes(lifetime) > 0) bytes[MemoryPlan::label(lifetime)] = plan.bytes(lifetime);
  return bytes;
}

/// A model's whole life: built, begun, trained a step, evaluated.
void live(const ModelConfig& config, comm::MeshShape shape) {
  Rig rig = on_mesh(config, shape);
  rig.model->initialise(1);
  std::vector<Row> rows;
  for (index_t row = 0; row < config.micro_batch; ++row) rows.push_back(text_row(config, row, true));
  accumulate(rig, std::vector<std::vector<Row>>(shape.dp, rows));
  rig.model->update({.lr = 1e-3, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decay = 0.1, .clip = 1, .step = 1});
  const auto batch = rig.local(rows);
  Numbers nll(batch.tokens.size());
  rig.model->evaluate(batch, nll);
  CHECK(by_label(rig.model->plan()) == by_label(memory_plan(config, shape, rig.layout)));
}

}  // namespace

TEST_CASE("model: a run allocates what the plan says, label by label, and nothing else", "[model]") {
  ModelConfig config = small_model(GENERATE(2, 97), 2, GENERATE(false, true));
  config.precision.compute = GENERATE("fp32", "fp64", "bf16");
  const comm::MeshShape shape{1, ranks(), 1};
  const auto layout = cp::SequenceLayout::named(config.attention.layout, config.sequence_length, shape.ring);
  const auto planned = by_label(memory_plan(config, shape, layout));
  const Counting counting;
  live(config, shape);
  CHECK(counted == planned);
}

TEST_CASE("model: a view beside the plan is seen", "[model]") {
  const ModelConfig config = small_model(16, 1, true);
  const comm::MeshShape shape{1, ranks(), 1};
  const auto layout = cp::SequenceLayout::named(config.attention.layout, config.sequence_length, shape.ring);
  const Counting counting;
  live(config, shape);
  const Vector<double> stray("stray", 10);
  CHECK(counted != by_label(memory_plan(config, shape, layout)));
  CHECK(counted.at("stray") == 80);
}

TEST_CASE("model: a plan's buffers do not overlap while they live together", "[model]") {
  const ModelConfig config = small_model(97, 2, false);
  const comm::MeshShape shape{1, 2, 1};
  const MemoryPlan plan = memory_plan(config, shape, cp::SequenceLayout::zigzag(97, 2));
  const auto overlap = [](const MemoryPlan::Row& a, const MemoryPlan::Row& b) {
    return common({a.offset, a.bytes}, {b.offset, b.bytes}).count > 0;
  };
  for (const MemoryPlan::Row& a : plan.rows())
    for (const MemoryPlan::Row& b : plan.rows()) {
      const bool together = a.lifetime == b.lifetime && (a.lifetime != Lifetime::scratch || a.until == b.until);
      if (&a != &b && together && a.lifetime != Lifetime::library) {
        CAPTURE(a.name, b.name);
        CHECK(!overlap(a, b));
      }
    }
}
