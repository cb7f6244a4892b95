#include "comm/gathered_reduction.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cstring>

#include "comm/reduction.hpp"
#include "comm/world.hpp"

using namespace annulus;
using namespace annulus::test;
using comm::Reduction;

namespace {

template <class T>
using Values = Kokkos::View<T*, Kokkos::HostSpace>;

/// The same bits; of NaN, which each processor has its own of, the same places.
template <class T>
bool same(const Values<T>& a, const Values<T>& b) {
  for (std::size_t n = 0; n < a.size(); ++n) {
    const auto is_nan = [](T value) { return static_cast<Accum<T>>(value) != static_cast<Accum<T>>(value); };
    const bool both_nan = is_nan(a(n)) && is_nan(b(n));
    if (!both_nan && std::memcmp(&a(n), &b(n), sizeof(T)) != 0) return false;
  }
  return true;
}

}  // namespace

TEMPLATE_TEST_CASE("gathered reduction: the bits of the reduction on hosts, for every rank", "[comm]", bf16, float,
                   double, std::int32_t, std::int64_t) {
  const index_t count = 1031, stride = 1040;
  for (const int ranks : {1, 2, 5}) {
    std::vector<Values<TestType>> terms;
    std::vector<const void*> pointers;
    for (int r = 0; r < ranks; ++r) {
      Numbers held = wave(count, 1.3 + 0.1 * r);
      if (std::is_integral_v<TestType>)
        for (double& value : held) value = std::floor(1000 * value);
      else
        held[7 * r] = std::numeric_limits<double>::quiet_NaN();
      terms.push_back(upload(held, Values<TestType>("term", count)));
      pointers.push_back(terms.back().data());
    }
    for (const Reduction reduction : {Reduction::sum, Reduction::max}) {
      const Values<TestType> expected("expected", count);
      comm::reduce_in_order(scalar<TestType>, reduction, pointers, expected.data(), count);
      for (int me = 0; me < ranks; ++me) {
        CAPTURE(ranks, me, reduction == Reduction::sum);
        const Vector<TestType> received("received", ranks * stride), own("own", count);
        for (int r = 0; r < ranks; ++r) {  // the own place stays zero: nobody sends to itself
          const Vector<TestType> place(r == me ? own.data() : received.data() + r * stride, count);
          Kokkos::deep_copy(place, terms[r]);
        }
        const Exec exec;
        comm::reduce_gathered(exec, reduction, {received.data(), stride, own.data(), me, ranks},
                              {own.data(), count, scalar<TestType>});
        exec.fence();
        const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), own);
        CHECK(same<TestType>(found, expected));
      }
    }
  }
}
