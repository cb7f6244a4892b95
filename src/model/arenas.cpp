#include <cassert>
#include <vector>

#include "core/profile.hpp"
#include "core/rng.hpp"
#include "model/transformer.hpp"

namespace annulus::model {

namespace {

/// A part of a tensor as training begins with it.
template <class A>
std::vector<A> initial_values(const Tensor& tensor, std::uint64_t seed, Stretch part) {
  std::vector<A> values(part.count, static_cast<A>(tensor.initial.constant));
  if (tensor.initial.deviation > 0)
    for (index_t n = 0; n < part.count; ++n)
      values[n] =
          static_cast<A>(tensor.initial.deviation * normal(seed, Draw::initialisation, tensor.stream, part.begin + n));
  return values;
}

template <class T, class A>
void round_into(const Exec& exec, Vector<const A> master, Vector<T> compute) {
  Kokkos::parallel_for(
      "annulus::model::round_into", Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, compute.extent(0)),
      KOKKOS_LAMBDA(index_t n) { compute(n) = T(master(n)); });
}

}  // namespace

template <class T>
auto Transformer<T>::master(const OwnedStretch& part) const -> Vector<A> {
  if constexpr (std::is_same_v<T, A>)
    return Vector<A>(compute_.data() + part.arena.begin, part.arena.count);
  else
    return Vector<A>(master_.data() + part.packed, part.arena.count);
}

template <class T>
index_t Transformer<T>::packed(Stretch stretch) const {
  int bucket = 0;
  while (table_.buckets()[bucket].end() <= stretch.begin) ++bucket;
  const Stretch own = table_.owned(place_.mesh.rank(), bucket);
  assert(stretch.begin >= own.begin && stretch.end() <= own.end());
  return table_.shard_offset(bucket) + stretch.begin - own.begin;
}

template <class T>
auto Transformer<T>::bytes_of(Arena arena, Stretch stretch) const -> Kokkos::View<std::byte*, Exec::memory_space> {
  const auto bytes = [&](auto* first) {
    return Kokkos::View<std::byte*, Exec::memory_space>(reinterpret_cast<std::byte*>(first),
                                                        stretch.count * sizeof(*first));
  };
  switch (arena) {
    case Arena::compute:
      return bytes(compute_.data() + stretch.begin);
    case Arena::master:
      return bytes(master({stretch, packed(stretch), false}).data());
    case Arena::gradient:
      return bytes(gradient_.data() + stretch.begin);
    case Arena::m:
      return bytes(m_.data() + packed(stretch));
    default:
      return bytes(v_.data() + packed(stretch));
  }
}

template <class T>
void Transformer<T>::read(Arena arena, Stretch stretch, std::span<std::byte> out) const {
  if (stretch.count == 0) return;
  const auto bytes = bytes_of(arena, stretch);
  assert(out.size() == bytes.size());
  Kokkos::deep_copy(exec(), Kokkos::View<std::byte*, Kokkos::HostSpace>(out.data(), out.size()), bytes);
  exec().fence("annulus::model::read[the values are here]");
}

template <class T>
void Transformer<T>::write(Arena arena, Stretch stretch, std::span<const std::byte> in) {
  if (stretch.count == 0) return;
  const auto bytes = bytes_of(arena, stretch);
  assert(in.size() == bytes.size());
  Kokkos::deep_copy(exec(), bytes, Kokkos::View<const std::byte*, Kokkos::HostSpace>(in.data(), in.size()));
  exec().fence("annulus::model::write[the caller's memory is free]");
}

template <class T>
void Transformer<T>::initialise(std::uint64_t seed) {
  const Region region("annulus::model::initialise");
  for (const Tensor& tensor : table_.tensors()) {
    const Stretch own = common({tensor.offset, tensor.count}, table_.owned(place_.mesh.rank(), tensor.bucket));
    if (own.count == 0) continue;
    const auto values = initial_values<A>(tensor, seed, {own.begin - tensor.offset, own.count});
    write(Arena::master, own, std::as_bytes(std::span(values)));
  }
  Kokkos::deep_copy(exec(), m_, 0);
  Kokkos::deep_copy(exec(), v_, 0);
  refresh_compute();
}

template <class T>
void Transformer<T>::refresh_compute() {
  if constexpr (!std::is_same_v<T, A>)
    for (const OwnedStretch& part : owned_)
      round_into<T, A>(exec(), master(part), Vector<T>(compute_.data() + part.arena.begin, part.arena.count));
  gather();
}

template class Transformer<float>;
template class Transformer<double>;
template class Transformer<bf16>;

}  // namespace annulus::model
