#include "app_faults/faults.hpp"

#include <functional>
#include <map>

#include "app_faults/communicator_faults.hpp"
#include "app_faults/device_faults.hpp"
#include "app_faults/loader_faults.hpp"
#include "app_faults/model_faults.hpp"
#include "app_faults/rotator_faults.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace annulus::test {

namespace {

/// Around the gradients' communicator.
app::Seams around_reduce(const DecorateReduce& decorate) {
  app::Seams seams;
  seams.communicator = [decorate](std::unique_ptr<comm::Communicator> group) {
    return group->name() == "reduce" ? decorate(std::move(group)) : std::move(group);
  };
  return seams;
}

app::Seams silent_rank(bool goes_on) {
  return around_reduce(
      [goes_on](std::unique_ptr<comm::Communicator> reduce) { return with_silent_rank(std::move(reduce), goes_on); });
}

app::Seams scaled_hop(double factor) {
  app::Seams seams;
  seams.rotator = [factor](std::unique_ptr<cp::Rotator> rotator) {
    return with_scaled_last_hop(std::move(rotator), factor);
  };
  return seams;
}

app::Seams around_rotator(std::unique_ptr<cp::Rotator> (*decorate)(std::unique_ptr<cp::Rotator>)) {
  app::Seams seams;
  seams.rotator = decorate;
  return seams;
}

app::Seams stale_rotator() {
  const auto steps = std::make_shared<index_t>(0);
  app::Seams seams = around_reduce(
      [steps](std::unique_ptr<comm::Communicator> reduce) { return counting_steps(std::move(reduce), steps); });
  seams.rotator = [steps](std::unique_ptr<cp::Rotator> rotator) { return stale(std::move(rotator), steps); };
  return seams;
}

app::Seams altered_batch(AlterBatch alter) {
  app::Seams seams;
  seams.loader = [alter](std::unique_ptr<io::Loader> loader) { return with_altered_batch(std::move(loader), alter); };
  return seams;
}

template <class Decorate>
app::Seams around_model(const Decorate& decorate) {
  app::Seams seams;
  seams.model = decorate;
  return seams;
}

std::unique_ptr<model::Model> with_late_nan(std::unique_ptr<model::Model> model) {
  return with_late_numbers(with_nan_in_third_step(std::move(model)));
}

const std::map<std::string, std::function<app::Seams()>>& faults() {
  static const std::map<std::string, std::function<app::Seams()>> all{
      {"dkv-sign", [] { return scaled_hop(-1); }},
      {"dropped-hop", [] { return scaled_hop(0); }},
      {"stale-rotator", stale_rotator},
      {"shifted-labels", [] { return altered_batch(shift_labels_after_the_split); }},
      {"local-positions", [] { return altered_batch(count_positions_on_the_rank); }},
      {"zero-attention", [] { return around_rotator(with_zero_blocks); }},
      {"stray-view", [] { return around_rotator(with_stray_memory); }},
      {"silent-rank", [] { return silent_rank(false); }},
      {"absent-rank", [] { return silent_rank(true); }},
      {"norm-over-copies", [] { return around_reduce(with_norm_over_copies); }},
      {"late-numbers", [] { return around_model(with_late_numbers); }},
      {"third-nan", [] { return around_model(with_nan_in_third_step); }},
      {"third-nan-late", [] { return around_model(with_late_nan); }},
  };
  return all;
}

}  // namespace

std::vector<std::string> fault_names() {
  std::vector<std::string> names;
  for (const auto& [name, seams] : faults()) names.push_back(name);
  for (const auto& [name, alter] : device_faults()) names.push_back(name);
  return names;
}

app::Seams seams_with(const std::string& fault) {
  if (fault.empty()) return {};
  if (const auto on_device = device_faults().find(fault); on_device != device_faults().end())
    return altered_batch(on_device->second);
  const auto found = faults().find(fault);
  if (found == faults().end())
    throw Refused(text("ANNULUS_FAULT = \"", fault, "\" is none of ", joined(fault_names(), ", ")));
  return found->second();
}

}  // namespace annulus::test
