#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>

#include "comm/world.hpp"

using namespace annulus;
using namespace annulus::test;
using Catch::Matchers::ContainsSubstring;
using comm::Reduction;

#ifndef ANNULUS_CUDA
TEST_CASE("communicators: NCCL is refused where it is not built", "[comm]") {
  auto all = comm::world_communicator();
  if (all->size() == 1) SKIP("one rank sends nothing");
  CHECK_THROWS_WITH(comm::on_device(std::move(all), comm::Transport::nccl),
                    ContainsSubstring("mesh.transport = \"nccl\": this build is without NCCL"));
}
#endif

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// What rank r holds: different on every rank, exact in T.
template <class T>
Numbers held(int r, index_t count) {
  Numbers values = wave(count, 1.3 + 0.1 * r);
  if (std::is_integral_v<T>)
    for (double& value : values) value = std::floor(1000 * value);
  return rounded<T>(values);
}

/// Values that every operation must overwrite; an integer has no NaN.
template <class T>
Numbers poison(index_t count) {
  return Numbers(count, std::is_integral_v<T> ? -77 : nan);
}

Numbers concatenated(const std::vector<Numbers>& parts) {
  Numbers all;
  for (const Numbers& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Numbers slice(const Numbers& all, index_t begin, index_t count) {
  return Numbers(all.begin() + begin, all.begin() + begin + count);
}

/// Half an ulp of 1 in T.
template <class T>
constexpr double half_ulp = std::is_same_v<T, bf16>    ? 0x1p-8
                            : std::is_same_v<T, float> ? 0x1p-24
                                                       : 0x1p-53;

/// `found` is the sum of `terms`: each addition rounds once in Accum<T>, the result once to T.
template <class T>
bool is_sum(const Numbers& found, const std::vector<Numbers>& terms) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    double sum = 0, size = 0;
    for (const Numbers& term : terms) sum += term[i], size += std::abs(term[i]);
    const double budget = size * (terms.size() * half_ulp<Accum<T>> + half_ulp<T>);
    if (!(std::abs(found[i] - sum) <= (std::is_integral_v<T> ? 0 : budget))) return false;
  }
  return true;
}

/// Whether all ranks hold the same bits.
bool same_everywhere(comm::Communicator& world, const Numbers& values) {
  Numbers highest = values, lowest = values;
  for (double& value : lowest) value = -value;
  for (Numbers* side : {&highest, &lowest})
    world.agree({side->data(), index_t(side->size()), Scalar::fp64}, Reduction::max);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (highest[i] != values[i] || lowest[i] != -values[i]) return false;
  return true;
}

template <class Kind, class T>
void check_collectives(index_t count) {
  CAPTURE(count, size_of(scalar<T>));
  const auto world = Kind::world();
  const Exec exec;
  const int ranks = world->size(), me = world->rank();
  std::vector<Numbers> whole, own;  // of each rank: a part for everyone, and one part
  for (int r = 0; r < ranks; ++r) {
    whole.push_back(held<T>(r, ranks * count));
    own.push_back(held<T>(r, count));
  }
  std::vector<Numbers> mine;  // part `me` of each rank
  for (const Numbers& of_rank : whole) mine.push_back(slice(of_rank, me * count, count));

  const Array<Kind, T> reduced(own[me]);
  world->all_reduce(exec, reduced, Reduction::sum).wait(exec);
  CHECK(is_sum<T>(reduced.numbers(), own));
  CHECK(same_everywhere(*world, reduced.numbers()));

  const Array<Kind, T> highest(own[me]);
  world->all_reduce(exec, highest, Reduction::max).wait(exec);
  Numbers expected = own[0];
  for (const Numbers& of_rank : own)
    for (index_t i = 0; i < count; ++i) expected[i] = std::max(expected[i], of_rank[i]);
  CHECK(highest.numbers() == expected);

  const Array<Kind, T> parts(whole[me]), scattered(poison<T>(count));
  world->reduce_scatter(exec, parts, scattered).wait(exec);
  CHECK(is_sum<T>(scattered.numbers(), mine));
  CHECK(parts.numbers() == whole[me]);
  world->reduce_scatter(exec, parts, parts.part(me * count, count)).wait(exec);
  CHECK(slice(parts.numbers(), me * count, count) == scattered.numbers());

  const Array<Kind, T> part(own[me]), gathered(poison<T>(ranks * count)), in_place(poison<T>(ranks * count));
  world->all_gather(exec, part, gathered).wait(exec);
  CHECK(gathered.numbers() == concatenated(own));
  const comm::Values place = in_place.part(me * count, count);
  comm::self_communicator("own")->send_recv(exec, part, 0, place, 0).wait(exec);
  world->all_gather(exec, place, in_place).wait(exec);
  CHECK(in_place.numbers() == concatenated(own));

  const Array<Kind, T> sent(whole[me]), exchanged(poison<T>(ranks * count));
  world->all_to_all(exec, sent, exchanged).wait(exec);
  CHECK(exchanged.numbers() == concatenated(mine));

  const int root = ranks - 1;
  const Array<Kind, T> told(me == root ? own[root] : poison<T>(count));
  world->broadcast(exec, told, root).wait(exec);
  CHECK(told.numbers() == own[root]);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("communicator: every collective is its definition", "[comm]", AllKinds) {
  const index_t count = GENERATE(0, 1, 7, 4099);
  check_collectives<TestType, float>(count);
  check_collectives<TestType, double>(count);
  check_collectives<TestType, bf16>(count);
  check_collectives<TestType, std::int64_t>(count);
  check_collectives<TestType, std::int32_t>(count);
}

TEMPLATE_LIST_TEST_CASE("communicator: arrays of several slices", "[comm]", BetweenRanks) {
  check_collectives<TestType, double>(300007);  // all_reduce: parts of up to 300007 values; reduce_scatter: 2.3 slices
}

TEMPLATE_LIST_TEST_CASE("communicator: a ring passes blocks of different sizes on", "[comm]", AllKinds) {
  const auto world = TestType::world();
  const Exec exec;
  const int ranks = world->size(), me = world->rank(), next = (me + 1) % ranks, previous = (me + ranks - 1) % ranks;
  const auto length = [](int r) { return index_t(13 * r); };  // rank 0's is empty
  const Array<TestType, float> sent(held<float>(me, length(me)));
  const Array<TestType, float> received(poison<float>(length(previous)));
  world->send_recv(exec, sent, next, received, previous).wait(exec);
  CHECK(received.numbers() == held<float>(previous, length(previous)));
}

TEMPLATE_LIST_TEST_CASE("communicator: operations in flight keep apart, whatever is waited for first", "[comm]",
                        BetweenRanks) {
  const auto world = TestType::world(), other = world->split(0, world->rank(), "other");
  const Exec exec;
  const int ranks = world->size(), me = world->rank(), next = (me + 1) % ranks, previous = (me + ranks - 1) % ranks;
  const index_t count = 50021;
  const Array<TestType, float> first(held<float>(me, count)), second(held<float>(me + ranks, count));
  const Array<TestType, float> got_first(poison<float>(count)), got_second(poison<float>(count));
  const Array<TestType, double> sum(held<double>(me, count)), other_sum(held<double>(me + 1, count));
  const Array<TestType, double> longer_sum(held<double>(me + 2, 17 * count));  // several slices, beside one of one

  std::vector<comm::Ticket> tickets = {
      world->send_recv(exec, first, next, got_first, previous), world->all_reduce(exec, longer_sum, Reduction::sum),
      world->all_reduce(exec, sum, Reduction::sum), other->all_reduce(exec, other_sum, Reduction::sum),
      world->send_recv(exec, second, next, got_second, previous)};
  for (std::size_t t = 0; t < tickets.size(); ++t) tickets[(t + me) % tickets.size()].wait(exec);
  for (comm::Ticket& ticket : tickets) ticket.wait(exec);  // a second time

  std::vector<Numbers> terms, other_terms, longer_terms;
  for (int r = 0; r < ranks; ++r) {
    longer_terms.push_back(held<double>(r + 2, 17 * count));
    terms.push_back(held<double>(r, count));
    other_terms.push_back(held<double>(r + 1, count));
  }
  CHECK(got_first.numbers() == held<float>(previous, count));
  CHECK(got_second.numbers() == held<float>(previous + ranks, count));
  CHECK(is_sum<double>(sum.numbers(), terms));
  CHECK(is_sum<double>(other_sum.numbers(), other_terms));
  CHECK(is_sum<double>(longer_sum.numbers(), longer_terms));
}

TEMPLATE_LIST_TEST_CASE("communicator: a released buffer is free, whoever dropped the ticket", "[comm]", AllKinds) {
  const auto world = TestType::world();
  const Exec exec;
  const int ranks = world->size(), me = world->rank(), next = (me + 1) % ranks, previous = (me + ranks - 1) % ranks;
  const index_t count = 1 << 20;  // too long for MPI to have sent it before the receiver is ready
  const Array<TestType, float> buffer(held<float>(me, count)), received(poison<float>(count));
  for (int round = 0; round < 4; ++round) {
    upload(held<float>(me + ranks * round, count), buffer.view);
    world->send_recv(exec, buffer, next, received, previous);
    const auto release_sent = [&] {
      world->release(buffer.view.data() + count / 2, exec);
      upload(poison<float>(count), buffer.view);
    };
    if (round % 2 == 0) release_sent();
    world->release(received.view.data(), exec);
    CHECK(received.numbers() == held<float>(previous + ranks * round, count));
    if (round % 2 == 1) release_sent();
    upload(poison<float>(count), received.view);
  }
}

#ifdef ANNULUS_CUDA
TEST_CASE("communicator: reductions over Nccl have the bits of those over MPI", "[comm]") {
  const auto nccl = Nccl::world(), staged = Staged::world();
  const Exec exec;
  const int ranks = nccl->size(), me = nccl->rank();
  for (const index_t count : {5, 4099, 4300007}) {  // in bf16 and 2 ranks: 8.6 MB, parts of 1.03 slices
    const auto same_bits = [&]<class T>(T) {
      const Numbers terms = held<T>(me, count);
      const Array<Nccl, T> over_nccl(terms), over_mpi(terms);
      for (const Reduction reduction : {Reduction::sum, Reduction::max}) {
        nccl->all_reduce(exec, over_nccl, reduction).wait(exec);
        staged->all_reduce(exec, over_mpi, reduction).wait(exec);
        CHECK(over_nccl.numbers() == over_mpi.numbers());
      }
      const Array<Nccl, T> parts(held<T>(me, ranks * count)), one(poison<T>(count)), other(poison<T>(count));
      nccl->reduce_scatter(exec, parts, one).wait(exec);
      staged->reduce_scatter(exec, parts, other).wait(exec);
      CHECK(one.numbers() == other.numbers());
    };
    CAPTURE(count);
    same_bits(bf16());
    same_bits(float());
  }
}

TEST_CASE("communicator: a part of Nccl's ranks communicates over Nccl", "[comm]") {
  const auto world = Nccl::world();
  const Exec exec;
  const int ranks = world->size(), me = world->rank(), color = me % 2;
  const auto part = world->split(color, -me, "part");
  CHECK(std::string(part->transport()) == (part->size() == 1 ? "self" : "nccl"));
  const Array<Nccl, std::int64_t> sum(Numbers{double(me)});
  part->all_reduce(exec, sum, Reduction::sum).wait(exec);
  double expected = 0;
  for (int r = color; r < ranks; r += 2) expected += r;
  CHECK(sum.numbers() == Numbers{expected});
}
#endif

TEST_CASE("communicator: ranks that disagree about a length are told, with both", "[comm]") {
  const auto world = comm::world_communicator();
  const Exec exec;
  if (world->size() < 2) SKIP("needs two ranks");
  const int me = world->rank(), other = 1 - me;
  if (me > 1) return;
  for (const index_t expected : {2, 5}) {  // rank 0 sends 3
    const Array<Mpi, float> sent(Numbers(me == 0 ? 3 : 4)), received(Numbers(me == 0 ? 4 : expected));
    const auto pass = [&] { world->send_recv(exec, sent, other, received, other).wait(exec); };
    if (me == 0)
      pass();
    else if (expected == 5)
      CHECK_THROWS_WITH(pass(), ContainsSubstring("rank 0 sent 12 bytes where 20 were expected"));
    else  // MPI's own words
      CHECK_THROWS_WITH(pass(), ContainsSubstring("rank 1") && ContainsSubstring("send_recv") &&
                                    ContainsSubstring("\"world\"") && ContainsSubstring("peer 0"));
  }
}

TEST_CASE("communicator: split orders by key and keeps groups apart", "[comm]") {
  const auto world = comm::world_communicator();
  const int ranks = world->size(), me = world->rank(), color = me % 2;
  const auto part = world->split(color, -me, "part");
  CHECK(part->size() == (ranks + 1 - color) / 2);
  CHECK(part->rank() == (ranks - 1 - me) / 2);
  CHECK(part->name() == "part");
  CHECK(std::string(part->transport()) == (part->size() == 1 ? "self" : "mpi"));
  double sum = me;
  part->agree({&sum, 1, Scalar::fp64}, Reduction::sum);
  double expected = 0;
  for (int r = color; r < ranks; r += 2) expected += r;
  CHECK(sum == expected);
}
