#include "cp/ring_attention.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "comm/jittered_communicator.hpp"
#include "io/loader.hpp"
#include "naive_attention.hpp"
#include "support/views.hpp"
#include "wires.hpp"

using namespace annulus;
using cp::KvBlock, cp::RingAttention, cp::SequenceLayout;
using test::NaiveAttention, test::Numbers, test::Timing, test::Wire;

namespace {

const ops::AttentionShape shape{.q_heads = 4, .kv_heads = 2, .head_dim = 8, .scale = 0.35};

/// What is attended to: whole rows, the same on every rank.
struct Problem {
  index_t rows, length;
  io::RowRules rules;
  std::vector<index_t> document_begins;
  Numbers q, k, v, dout;

  Problem(index_t rows, index_t length, io::RowRules rules, bool documents)
      : rows(rows),
        length(length),
        rules(rules),
        document_begins{0},
        q(test::wave(rows * length * shape.q_heads * shape.head_dim, 1.3)),
        k(test::wave(rows * length * shape.kv_heads * shape.head_dim, 0.7)),
        v(test::wave(rows * length * shape.kv_heads * shape.head_dim, 1.9)),
        dout(test::wave(q.size(), 0.9)) {
    if (documents)
      for (const index_t begin : {1, 2, 40, 96})
        if (begin < length) document_begins.push_back(begin);
  }

  /// The definition of the mask; the ring gets its own from local_batch().
  bool sees(index_t i, index_t j) const {
    for (const index_t begin : document_begins)
      if ((begin <= i) != (begin <= j)) return false;
    return (!rules.causal || j <= i) && (rules.window == 0 || j > i - rules.window);
  }

  template <class T>
  NaiveAttention expected() const {
    const test::AttentionSizes sizes{rows, length, shape.q_heads, shape.kv_heads, shape.head_dim, shape.scale};
    return {sizes,
            test::rounded<T>(q),
            test::rounded<T>(k),
            test::rounded<T>(v),
            test::rounded<T>(dout),
            [this](index_t, index_t i, index_t j) { return sees(i, j); }};
  }
};

/// A rank's tokens of (rows, length, width) values.
Numbers part(const Numbers& whole, index_t rows, const SequenceLayout& layout, int rank) {
  Numbers held;
  if (layout.length() == 0) return held;
  const index_t width = index_t(whole.size()) / (rows * layout.length());
  for (index_t row = 0; row < rows; ++row)
    for (index_t local = 0; local < layout.count(rank); ++local) {
      const auto first = whole.begin() + (row * layout.length() + layout.global(rank, local)) * width;
      held.insert(held.end(), first, first + width);
    }
  return held;
}

/// A rank's tokens of (rows, q_heads, length) values.
Numbers part_of_statistics(const Numbers& whole, index_t rows, const SequenceLayout& layout, int rank) {
  return part(whole, rows * shape.q_heads, layout, rank);
}

/// As blocks travel: (rows, 2, tokens, kv_heads, d).
Numbers interleaved(const Numbers& k, const Numbers& v, index_t rows) {
  Numbers kv;
  const auto row = index_t(k.size()) / rows;
  for (index_t r = 0; r < rows; ++r)
    for (const Numbers* half : {&k, &v}) kv.insert(kv.end(), half->begin() + r * row, half->begin() + (r + 1) * row);
  return kv;
}

struct Found {
  Numbers out, lse, dq, dkv;
  index_t bytes_forward, bytes_backward;
  bool operator==(const Found&) const = default;
};

/// Forward and backward on this rank; every output and all scratch hold NaN before.
template <class T>
Found computed(const Problem& problem, const SequenceLayout& layout, Timing timing,
               comm::Communicator& ring = test::world()) {
  using A = Accum<T>;
  const auto kernel = ops::attention_kernel<T>("reference", shape);
  Wire wire(ring, timing);
  const auto rotator = cp::make_rotator("p2p", wire);
  const int rank = wire.rank();
  const index_t rows = problem.rows, tokens = layout.count(rank);
  const Streams streams;

  std::vector<io::Sample> samples(rows, {std::vector<std::int32_t>(problem.length + 1), problem.document_begins});
  const cp::LocalBatch batch = io::local_batch(samples, problem.rules, layout, rank);
  const auto orders = [](const std::vector<index_t>& values) {
    Vector<index_t> device("orders", values.size());
    Kokkos::deep_copy(device, Kokkos::View<const index_t*, Kokkos::HostSpace>(values.data(), values.size()));
    return device;
  };
  const auto visible_begin = orders(batch.visible_begin), visible_end = orders(batch.visible_end);

  const auto mine = [&](const Numbers& whole) { return part(whole, rows, layout, rank); };
  const auto q = test::upload<T>(mine(problem.q)), dout = test::upload<T>(mine(problem.dout));
  const auto kv = test::upload<T>(interleaved(mine(problem.k), mine(problem.v), rows));
  const auto out = test::poisoned<T>(q.size());
  const auto lse = test::poisoned<A>(rows * shape.q_heads * tokens), delta = test::poisoned<A>(lse.size());
  const auto dq = test::poisoned<A>(q.size());

  const auto sizes = RingAttention<T>::workspace(*kernel, shape, layout, "p2p", rows, true);
  const auto state = test::poisoned<A>(sizes.state), backward = test::poisoned<A>(sizes.backward);
  const auto gradient = test::poisoned<A>(sizes.gradient);
  const auto under_way = test::poisoned<float>(sizes.rotator_bytes / sizeof(float));
  const typename RingAttention<T>::Scratch scratch{state.data(), backward.data(), gradient.data(), under_way.data()};

  RingAttention<T> attention(*kernel, shape, layout, *rotator);
  const typename RingAttention<T>::Batch places{rows, visible_begin.data(), visible_end.data()};
  const KvBlock<const T> own{kv.data(), rows, tokens, shape.kv_heads, shape.head_dim};
  Found found;
  attention.forward(streams, places, q.data(), own, out.data(), lse.data(), scratch);
  found.bytes_forward = wire.bytes_sent();
  const KvBlock<const A> dkv = attention.backward(streams, places, q.data(), own, out.data(), dout.data(), lse.data(),
                                                  delta.data(), dq.data(), scratch);
  found.bytes_backward = wire.bytes_sent() - found.bytes_forward;
  streams.compute().fence();
  found.out = test::download(out);
  found.lse = test::download(lse);
  found.dq = test::download(dq);
  found.dkv = test::download(Vector<const A>(dkv.data, dkv.size()));
  return found;
}

/// Whether each value is the expected one up to its rounding. Of each term, p carries the error of its logit (a sum of
/// head_dim products, no larger than 3, under an exponential) and of the row's sum, up to 2 roundings for each key
/// seen; the sum over keys, or over queries and the heads of a group, rounds once per term. `narrow`: operands that are
/// rounded to T on the way (out, which delta is made of).
template <class T>
bool agrees(const Numbers& found, const Numbers& expected, const Numbers& terms, index_t length) {
  const double half_ulp = std::numeric_limits<Accum<T>>::epsilon() / 2;
  const double narrow = std::is_same_v<T, bf16> ? 0x1p-8 : 0;
  const double roundings = 4.0 * double(length) + 8.0 * shape.head_dim + 32;
  if (found.size() != expected.size()) return false;
  for (std::size_t n = 0; n < found.size(); ++n)
    if (!(std::abs(found[n] - expected[n]) <= (roundings * half_ulp + narrow) * terms[n])) return false;
  return true;
}

template <class T>
void check(const Problem& problem, const SequenceLayout& layout) {
  const NaiveAttention expected = problem.expected<T>();
  const int rank = test::world().rank();
  const Found found = computed<T>(problem, layout, Timing::plain);
  const auto mine = [&](const Numbers& whole) { return part(whole, problem.rows, layout, rank); };
  const auto both = [&](const Numbers& k, const Numbers& v) { return interleaved(mine(k), mine(v), problem.rows); };
  CHECK(agrees<T>(found.out, mine(expected.out.values), mine(expected.out.terms), problem.length));
  CHECK(agrees<Accum<T>>(found.lse, part_of_statistics(expected.lse, problem.rows, layout, rank),
                         Numbers(found.lse.size(), 3), problem.length));
  CHECK(agrees<T>(found.dq, mine(expected.dq.values), mine(expected.dq.terms), problem.length));
  CHECK(agrees<T>(found.dkv, both(expected.dk.values, expected.dv.values), both(expected.dk.terms, expected.dv.terms),
                  problem.length));
}

SequenceLayout layout_of(const std::string& name, index_t length) {
  return SequenceLayout::named(name, length, test::world().size());
}

}  // namespace

TEMPLATE_TEST_CASE("ring attention: equals attention of the whole row in fp64", "[cp]", float, double, bf16) {
  const std::string name = GENERATE("contiguous", "zigzag");
  const index_t length = GENERATE(1, 3, 7, 97, 128), rows = GENERATE(1, 2);
  const bool causal = GENERATE(true, false), documents = GENERATE(false, true);
  CAPTURE(name, length, rows, causal, documents);
  check<TestType>(Problem(rows, length, {.causal = causal}, documents), layout_of(name, length));
}

TEMPLATE_TEST_CASE("ring attention: a window is measured in the row, not on a rank", "[cp]", float, double) {
  const std::string name = GENERATE("contiguous", "zigzag");
  const index_t window = GENERATE(1, 5, 32, 45);
  CAPTURE(name, window);
  check<TestType>(Problem(2, 97, {.window = window}, false), layout_of(name, 97));
}

TEST_CASE("ring attention: a row without tokens leaves nothing and does not hang", "[cp]") {
  const Found found = computed<double>(Problem(2, 0, {}, false), layout_of("zigzag", 0), Timing::plain);
  CHECK(found.out.empty());
  CHECK(found.dkv.empty());
}

TEMPLATE_TEST_CASE("ring attention: results do not depend on when messages travel", "[cp]", float, double) {
  const std::string name = GENERATE("contiguous", "zigzag");
  const index_t length = GENERATE(3, 97);
  const Problem problem(2, length, {}, true);
  const SequenceLayout layout = layout_of(name, length);
  const Found plain = computed<TestType>(problem, layout, Timing::plain);
  for (const Timing timing : {Timing::eager, Timing::late, Timing::jitter})
    CHECK(computed<TestType>(problem, layout, timing) == plain);
}

TEST_CASE("ring attention: 100 orders of messages and work give the same bits", "[cp]") {
  const Problem problem(1, 97, {}, true);
  const SequenceLayout layout = layout_of("zigzag", 97);
  const Found plain = computed<float>(problem, layout, Timing::plain);
  int different = 0;
  for (int seed = 0; seed < 100; ++seed) {
    const auto late =
        comm::jittered_communicator(std::make_unique<comm::ForwardingCommunicator>(test::world()), 300, seed);
    different += computed<float>(problem, layout, Timing::plain, *late) != plain;
  }
  CHECK(different == 0);
}

TEMPLATE_TEST_CASE("ring attention: no byte travels that need not", "[cp]", float, double, bf16) {
  using T = TestType;
  const std::string name = GENERATE("contiguous", "zigzag");
  const index_t length = GENERATE(1, 3, 97, 96), rows = GENERATE(1, 2);
  const SequenceLayout layout = layout_of(name, length);
  const index_t ranks = test::world().size(), per_token = 2 * rows * shape.kv_heads * shape.head_dim;
  const Found found = computed<T>(Problem(rows, length, {}, false), layout, Timing::plain);
  // A rank sends every block on except the one that comes to it last, which is the next rank's own.
  const index_t passed_on = length - layout.count(int((test::world().rank() + 1) % ranks));
  const index_t blocks = ranks == 1 ? 0 : passed_on * per_token * index_t(sizeof(T));
  const index_t gradients = ranks == 1 ? 0 : length * per_token * index_t(sizeof(Accum<T>));
  CHECK(found.bytes_forward == blocks);
  CHECK(found.bytes_backward == blocks + gradients);
  if (length % (2 * ranks) == 0)
    CHECK(found.bytes_forward == layout.count(0) * per_token * index_t(sizeof(T)) * (ranks - 1));
}
