#include "train/parity.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace annulus::train {

namespace {

double relative(double value, double reference) {
  if (value == reference) return 0;
  const double difference = std::abs(value - reference) / std::max(std::abs(reference), 1e-300);
  return std::isnan(difference) ? INFINITY : difference;
}

template <class E>
std::vector<double> widened(const std::vector<std::byte>& bytes) {
  const E* const first = reinterpret_cast<const E*>(bytes.data());
  return {first, first + bytes.size() / sizeof(E)};
}

std::vector<double> values(const model::Model& model, model::Arena arena, model::Stretch stretch) {
  const Scalar type = arena == model::Arena::compute ? model.compute_type() : model.state_type();
  std::vector<std::byte> bytes(stretch.count * size_of(type));
  model.read(arena, stretch, bytes);
  if (type == Scalar::fp64) return widened<double>(bytes);
  if (type == Scalar::fp32) return widened<float>(bytes);
  auto upper_halves = widened<std::uint16_t>(bytes);  // of the bits of floats
  for (double& value : upper_halves) value = std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
  return upper_halves;
}

/// `alone` computes in fp64.
void take_parameters(const model::Model& mesh, model::Model& alone) {
  for (const auto& tensor : mesh.parameters().tensors()) {
    const auto parameters = values(mesh, model::Arena::compute, {tensor.offset, tensor.count});
    // padding, and so offsets, depend on the number of ranks
    alone.write(model::Arena::master, {alone.parameters().tensor(tensor.name).offset, tensor.count},
                std::as_bytes(std::span(parameters)));
  }
  alone.refresh_compute();
}

/// Of one tensor, over the elements that this rank owns on the mesh.
struct Squares {
  double difference = 0, reference = 0;
};

Squares compare_owned(const Feed& mesh, const Feed& alone, const model::Tensor& tensor) {
  const auto& table = mesh.model.parameters();
  const auto owned = table.owned(mesh.mesh.rank(), tensor.bucket);
  const index_t begin = std::max(tensor.offset, owned.begin);
  const index_t end = std::min(tensor.offset + tensor.count, owned.end());
  if (begin >= end) return {};
  const index_t alone_begin = alone.model.parameters().tensor(tensor.name).offset + begin - tensor.offset;
  const auto found = values(mesh.model, model::Arena::gradient, {begin, end - begin});
  const auto expected = values(alone.model, model::Arena::gradient, {alone_begin, end - begin});
  Squares squares;
  for (std::size_t n = 0; n < found.size(); ++n) {
    squares.difference += (found[n] - expected[n]) * (found[n] - expected[n]);
    squares.reference += expected[n] * expected[n];
  }
  return squares;
}

std::vector<TensorDifference> compare_gradients(const Feed& mesh, const Feed& alone) {
  const auto& tensors = mesh.model.parameters().tensors();
  std::vector<Squares> squares;
  double all = 0;
  for (const auto& tensor : tensors) {
    const auto [difference, reference] = compare_owned(mesh, alone, tensor);
    squares.push_back({comm::agree(mesh.mesh.world(), difference, comm::Reduction::sum),
                       comm::agree(mesh.mesh.world(), reference, comm::Reduction::sum)});
    all += squares.back().reference;
  }
  std::vector<TensorDifference> differences;
  for (std::size_t n = 0; n < tensors.size(); ++n) {
    const double scale = std::max(std::sqrt(squares[n].reference), 1e-3 * std::sqrt(all));
    const double difference = std::sqrt(squares[n].difference);
    differences.push_back({tensors[n].name, difference == 0 ? 0 : difference / scale});
    if (std::isnan(differences.back().difference)) differences.back().difference = INFINITY;  // a NaN is never in order
  }
  std::stable_sort(differences.begin(), differences.end(),
                   [](const auto& a, const auto& b) { return a.difference > b.difference; });
  return differences;
}

}  // namespace

double StepParity::loss_difference() const { return relative(loss, reference_loss); }
double StepParity::norm_difference() const { return relative(norm, reference_norm); }

bool StepParity::holds(const Tolerance& tolerance) const {
  return loss_difference() <= tolerance.numbers && norm_difference() <= tolerance.numbers &&
         std::all_of(tensors.begin(), tensors.end(),
                     [&](const auto& t) { return t.difference <= tolerance.gradients(t.name); });
}

void compare_steps(const Feed& mesh, const Feed& alone, const ParitySchedule& schedule,
                   const std::function<void(const StepParity&)>& each) {
  StepSamples samples{.first = 0, .rows = schedule.micro_batch, .accumulation = schedule.accumulation};
  auto update = schedule.update;
  const bool same_type = mesh.model.compute_type() == alone.model.compute_type();
  for (update.step = 1; update.step <= schedule.steps; ++update.step) {
    if (!same_type) take_parameters(mesh.model, alone.model);
    const auto found = optimizer_step(mesh, samples, update);
    auto alone_samples = samples;
    alone_samples.accumulation *= mesh.mesh.shape().dp;
    const auto expected = optimizer_step(alone, alone_samples, update);
    each({.step = update.step,
          .loss = found.loss,
          .reference_loss = expected.loss,
          .norm = found.gradient_norm,
          .reference_norm = expected.gradient_norm,
          .tensors = compare_gradients(mesh, alone)});
    samples.first += samples.count(mesh.mesh.shape());
  }
}

}  // namespace annulus::train
