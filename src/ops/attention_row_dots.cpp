#include "core/lanes.hpp"
#include "ops/attention_kernels.hpp"

namespace annulus::ops {

template <class T>
void attention_row_dots(const Exec& exec, const AttentionShape& shape, index_t queries, Heads<const T> out,
                        Heads<const T> dout, Accum<T>* delta) {
  const int heads = shape.q_heads;
  RowSplit<T> row(shape.head_dim);
  if constexpr (on_gpu) row.packs = 0;  // a head may begin anywhere, and 32 lanes read neighbours anyway

  for_each_row(
      "annulus::ops::attention_row_dots", exec, queries * heads, KOKKOS_LAMBDA(const Worker& worker, index_t r) {
        const index_t t = r / heads;
        const int h = static_cast<int>(r % heads);
        const T *out_t = out.at(t, h), *dout_t = dout.at(t, h);
        const auto dot = row_sum(worker, row, [&](auto i) { return load(out_t, i) * load(dout_t, i); });
        Kokkos::single(Kokkos::PerThread(worker), [&] { delta[h * queries + t] = dot; });
      });
}

template void attention_row_dots(const Exec&, const AttentionShape&, index_t, Heads<const float>, Heads<const float>,
                                 float*);
template void attention_row_dots(const Exec&, const AttentionShape&, index_t, Heads<const double>, Heads<const double>,
                                 double*);
template void attention_row_dots(const Exec&, const AttentionShape&, index_t, Heads<const bf16>, Heads<const bf16>,
                                 float*);

}  // namespace annulus::ops
