#include "comm/mesh.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "comm/mpi_communicator.hpp"
#include "core/error.hpp"

using namespace annulus;
using comm::Mesh;
using comm::Reduction;

TEST_CASE("mesh: each rank has its place, ulysses fastest, and a ring of those that share its sequence", "[comm]") {
  const int ranks = comm::world_communicator()->size();
  for (int dp = 1; dp <= ranks; ++dp)
    for (int ring = 1; dp * ring <= ranks; ++ring) {
      if (ranks % (dp * ring) != 0) continue;
      const int ulysses = ranks / dp / ring;
      CAPTURE(dp, ring, ulysses);
      const Mesh mesh(comm::world_communicator(), {dp, ring, ulysses});
      const int me = mesh.rank();
      CHECK(me == (mesh.dp_rank() * ring + mesh.ring_rank()) * ulysses + mesh.ulysses_rank());
      CHECK((mesh.ring_rank() < ring && mesh.ulysses_rank() < ulysses));

      CHECK((mesh.ring().size() == ring && mesh.ring().rank() == mesh.ring_rank()));
      CHECK((mesh.reduce().size() == ranks && mesh.reduce().rank() == me));
      // the members of the ring: the ranks that differ from this one in ring_rank alone
      index_t expected = 0;
      for (int r = 0; r < ring; ++r)
        expected += index_t(1) << ((mesh.dp_rank() * ring + r) * ulysses + mesh.ulysses_rank());
      CHECK(comm::agree(mesh.ring(), index_t(1) << me, Reduction::sum) == expected);
    }
}

TEST_CASE("mesh: another number of ranks than its shape is refused, naming both", "[comm]") {
  using Catch::Matchers::ContainsSubstring, Catch::Matchers::MessageMatches;
  auto world = comm::world_communicator();
  const std::string ranks = std::to_string(world->size());
  CHECK_THROWS_MATCHES(Mesh(std::move(world), {3, 5, 1}), Refused,
                       MessageMatches(ContainsSubstring("3 x 5 x 1 needs 15 ranks, and " + ranks + " w")));
}

TEST_CASE("agree: all ranks get the sum, or the largest", "[comm]") {
  const auto world = comm::world_communicator();
  const int ranks = world->size();
  CHECK(comm::agree(*world, index_t(1) << 40, Reduction::sum) == ranks * (index_t(1) << 40));
  CHECK(comm::agree(*world, index_t(-5 - world->rank()), Reduction::max) == -5);
  CHECK(comm::agree(*world, 0.5 * world->rank(), Reduction::max) == 0.5 * (ranks - 1));
}
