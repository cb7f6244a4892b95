#include "comm/gathered_reduction.hpp"

#include "core/bf16.hpp"
#include "core/views.hpp"

namespace annulus::comm {

namespace {

template <class Carried, class Stored>
void reduce(const Exec& exec, Reduction reduction, const GatheredTerms& terms, Values out) {
  const auto received = static_cast<const Stored*>(terms.received), own = static_cast<const Stored*>(terms.own);
  const auto result = static_cast<Stored*>(out.data);
  const index_t stride = terms.stride;
  const int rank = terms.rank, ranks = terms.ranks;
  const bool sum = reduction == Reduction::sum;
  Kokkos::parallel_for(
      "annulus::comm::reduce_gathered", Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, out.count),
      KOKKOS_LAMBDA(index_t i) {
        const auto term = [&](int r) { return Carried(r == rank ? own[i] : received[r * stride + i]); };
        Carried carried = term(0);
        for (int r = 1; r < ranks; ++r) {
          const Carried value = term(r);
          if (sum)
            carried += value;
          else
            carried = value > carried || value != value ? value : carried;
        }
        result[i] = Stored(carried);
      });
}

}  // namespace

void reduce_gathered(const Exec& exec, Reduction reduction, const GatheredTerms& terms, Values out) {
  switch (out.type) {
    case Scalar::bf16:
      return reduce<float, bf16>(exec, reduction, terms, out);
    case Scalar::fp32:
      return reduce<float, float>(exec, reduction, terms, out);
    case Scalar::fp64:
      return reduce<double, double>(exec, reduction, terms, out);
    case Scalar::int32:
      return reduce<std::int32_t, std::int32_t>(exec, reduction, terms, out);
    case Scalar::int64:
      return reduce<std::int64_t, std::int64_t>(exec, reduction, terms, out);
  }
}

}  // namespace annulus::comm
