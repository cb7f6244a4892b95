/// Writes checkpoints without end, to be killed: checkpoint_writer RUN FIRST. Prints each step once it is written.
#include <cstdio>
#include <cstdlib>

#include "comm/self_communicator.hpp"
#include "io/checkpoint.hpp"
#include "io/fake_model.hpp"

int main(int, char** arguments) {
  using namespace annulus;
  const auto self = comm::self_communicator("world");
  test::FakeModel model(1, 0);
  for (index_t step = std::atoll(arguments[2]);; ++step) {
    io::CheckpointInfo info;
    info.counters.step = step;
    io::write_checkpoint(arguments[1], model.fill(step), info, 2, *self);
    std::printf("%lld\n", static_cast<long long>(step));
    std::fflush(stdout);
  }
}
