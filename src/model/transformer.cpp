#include "model/transformer.hpp"

#include "core/error.hpp"
#include "model/shape.hpp"

namespace annulus::model {

namespace {

template <class V>
constexpr Scalar scalar = std::is_same_v<V, double>  ? Scalar::fp64
                          : std::is_same_v<V, float> ? Scalar::fp32
                                                     : Scalar::bf16;

template <class A>
Matrix<const A> uploaded(const Exec& exec, const std::vector<double>& values, Matrix<A> table) {
  const std::vector<A> narrow(values.begin(), values.end());
  Kokkos::deep_copy(exec, Vector<A>(table.data(), table.size()),
                    Kokkos::View<const A*, Kokkos::HostSpace>(narrow.data(), narrow.size()));
  exec.fence("annulus::model::transformer[tables are uploaded]");
  return table;
}

/// Neighbours in a bucket of which all or none decay, with the padding between them: it holds zeros.
struct DecayGroup {
  Stretch arena;
  int bucket;
  bool decays;
};
std::vector<DecayGroup> decay_groups(const ParameterTable& table) {
  std::vector<DecayGroup> groups;
  for (const Tensor& tensor : table.tensors())
    if (!groups.empty() && groups.back().bucket == tensor.bucket && groups.back().decays == tensor.decays)
      groups.back().arena.count = tensor.offset + tensor.count - groups.back().arena.begin;
    else
      groups.push_back({{tensor.offset, tensor.count}, tensor.bucket, tensor.decays});
  return groups;
}

/// make(T{}) for the T that precision.compute names.
template <class Make>
auto with_compute_type(const ModelConfig& config, const Make& make) {
  if (config.precision.compute == "fp32") return make(float{});
  if (config.precision.compute == "fp64") return make(double{});
  if (config.precision.compute == "bf16") return make(bf16{});
  throw Refused("precision.compute = \"" + config.precision.compute + "\" is none of \"fp32\", \"fp64\" and \"bf16\"");
}

}  // namespace

template <class T>
Transformer<T>::Transformer(const ModelConfig& config, const Place& place)
    : config_(config),
      place_(place),
      table_(parameter_table(config, place.mesh.size())),
      buffers_(config, place.mesh.shape(), place.layout),
      memory_(exec(), buffers_.plan),
      compute_(memory_.vector(buffers_.compute)),
      master_(memory_.vector(buffers_.master)),
      gradient_(memory_.vector(buffers_.gradient)),
      m_(memory_.vector(buffers_.m)),
      v_(memory_.vector(buffers_.v)),
      squared_norm_(memory_.data(buffers_.sums), 1),
      nll_sum_(memory_.data(buffers_.sums) + 1, 1),
      weights_(compute_.data(), table_, config.model),
      gradients_(gradient_.data(), table_, config.model),
      kernel_(ops::attention_kernel<T>(config.attention.kernel, attention_shape(config.model))),
      ring_attention_(*kernel_, attention_shape(config.model), place.layout, place.rotator),
      upload_(place.streams, memory_.data(buffers_.batch), memory_.data(buffers_.packed_batch),
              config.micro_batch * place.layout.max_count()),
      download_(memory_.data(buffers_.downloaded_sums)) {
  for (const DecayGroup& group : decay_groups(table_)) {
    if (!group.decays) gains_.push_back(group.arena);
    const Stretch own = common(group.arena, table_.owned(place.mesh.rank(), group.bucket));
    if (own.count > 0) owned_.push_back({own, packed(own), group.decays});
  }
  const index_t positions = config.sequence_length, pairs = config.model.head_dim / 2;
  const ops::RopeTable rope = ops::rope_table(positions, static_cast<int>(config.model.head_dim), config.rope.theta);
  cosines_ = uploaded(exec(), rope.cosines, memory_.matrix(buffers_.cosines, positions, pairs));
  sines_ = uploaded(exec(), rope.sines, memory_.matrix(buffers_.sines, positions, pairs));
}

template <class T>
Scalar Transformer<T>::state_type() const {
  return scalar<A>;
}
template <class T>
Scalar Transformer<T>::compute_type() const {
  return scalar<T>;
}

template class Transformer<float>;
template class Transformer<double>;
template class Transformer<bf16>;

MemoryPlan memory_plan(const ModelConfig& config, const comm::MeshShape& mesh, const cp::SequenceLayout& layout) {
  return with_compute_type(config, [&](auto type) { return Buffers<decltype(type)>(config, mesh, layout).plan; });
}

std::unique_ptr<Model> make_model(const ModelConfig& config, const Place& place) {
  return with_compute_type(config, [&](auto type) -> std::unique_ptr<Model> {
    return std::make_unique<Transformer<decltype(type)>>(config, place);
  });
}

}  // namespace annulus::model
