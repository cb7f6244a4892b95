#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "io/checkpoint_run.hpp"
#include "io/hdf5.hpp"

using namespace annulus;
using namespace annulus::io;
using namespace annulus::test;

namespace {

struct Types {
  Scalar compute, state;
};
constexpr Types fp32{Scalar::fp32, Scalar::fp32}, fp64{Scalar::fp64, Scalar::fp64}, mixed{Scalar::bf16, Scalar::fp32};

/// The first `size` ranks as a group; nothing on the others.
std::unique_ptr<comm::Communicator> first_ranks(int size) {
  auto group = world().split(rank() < size ? 0 : 1, rank(), "first");
  if (rank() >= size) group.reset();
  return group;
}

bool same_info(const CheckpointInfo& found, const CheckpointInfo& expected) {
  const Counters &a = found.counters, &b = expected.counters;
  return a.step == b.step && a.sample == b.sample && a.tokens == b.tokens && a.seed == b.seed &&
         a.best_validation == b.best_validation && found.deck == expected.deck && found.git == expected.git &&
         found.data_fingerprint == expected.data_fingerprint && found.rope_history == expected.rope_history &&
         found.tokenizer == expected.tokenizer;
}

/// From the definition in docs/checkpoint-format.md, over a whole tensor.
std::uint64_t naive_hash(const std::vector<std::byte>& values, std::size_t element) {
  const auto mix = [](std::uint64_t z) {
    z ^= z >> 30;
    z *= 0xbf58476d1ce4e5b9;
    z ^= z >> 27;
    z *= 0x94d049bb133111eb;
    return z ^ z >> 31;
  };
  std::uint64_t sum = 0;
  for (std::size_t n = 0; n < values.size() / element; ++n) {
    std::uint64_t bits = 0;
    for (std::size_t b = 0; b < element; ++b)
      bits |= std::uint64_t{std::to_integer<std::uint8_t>(values[n * element + b])} << 8 * b;
    sum += mix(mix(n + 0x9e3779b97f4a7c15) + bits);
  }
  return sum;
}

}  // namespace

TEST_CASE("checkpoint: what any mesh writes, any mesh reads", "[io]") {
  const Types types = GENERATE(fp32, fp64, mixed);
  if (ranks() > 2 && types.compute != Scalar::bf16) return;  // the mesh is what differs there
  const CheckpointRun run;
  for (int writers = 1; writers <= ranks(); ++writers) {
    const auto writing = first_ranks(writers);
    if (writing) run.write(writers, *writing, types.compute, types.state);
    world().barrier();
    for (int readers = 1; readers <= ranks(); ++readers) {
      const auto reading = first_ranks(readers);
      if (!reading) continue;
      FakeModel model(readers, rank(), types.compute, types.state);
      CheckpointInfo info;
      CHECK_NOTHROW(info = read_checkpoint(run.file(writers), model, *reading));  // the other ranks go on
      CHECK(model.holds(writers));
      CHECK(model.refreshed == 1);
      CHECK(same_info(info, CheckpointRun::info(writers)));
      CHECK(info.compute_type == name_of(types.compute));
      CHECK((info.format_version == 1 && info.tensors.size() == 7));
    }
  }
}

TEST_CASE("checkpoint: tensors and hashes are the same for any mesh, and the hash is what the format says", "[io]") {
  const Types types = GENERATE(fp32, fp64, mixed);
  if (ranks() > 2 && types.compute != Scalar::bf16) return;
  const CheckpointRun run;
  std::vector<std::vector<std::byte>> tensors;
  for (int writers = 1; writers <= ranks(); ++writers) {
    const auto writing = first_ranks(writers);
    if (writing) run.write(9, *writing, types.compute, types.state);
    world().barrier();
    std::vector<std::vector<std::byte>> found;
    const auto file = h5::open_file(run.file(9));
    for (const char* group : {"params", "optim/m", "optim/v", "optim/master"}) {
      if (!h5::exists(file, group)) continue;
      for (const auto& name : h5::members(h5::open_group(file, group))) {
        const auto dataset = h5::open_dataset(file, std::string(group) + "/" + name);
        const auto shape = h5::shape_of(dataset);
        const Scalar type = h5::type_of(dataset);
        std::size_t bytes = size_of(type);
        for (const index_t n : shape) bytes *= n;
        found.emplace_back(bytes);
        h5::read(dataset, type, {std::vector<index_t>(shape.size(), 0), shape}, found.back().data());
        CHECK(h5::attribute<std::uint64_t>(dataset, "hash") == naive_hash(found.back(), size_of(type)));
      }
    }
    CHECK(found.size() == (types.compute == types.state ? 21 : 28));
    if (writers == 1) tensors = found;
    CHECK(found == tensors);
    world().barrier();
  }
}

TEST_CASE("checkpoint: a run goes on in another compute type of the same state type", "[io]") {
  const CheckpointRun run;
  run.write(1, world(), Scalar::bf16);
  run.write(2, world(), Scalar::fp32);
  FakeModel narrow(ranks(), rank(), Scalar::bf16), wide(ranks(), rank(), Scalar::fp32);
  CHECK(read_checkpoint(run.file(1), wide, world()).compute_type == "bf16");
  CHECK(wide.holds(1));
  CHECK(read_checkpoint(run.file(2), narrow, world()).compute_type == "fp32");
  CHECK(narrow.holds(2));
}

TEST_CASE("checkpoint: a long deck and empty texts come back", "[io]") {
  const CheckpointRun run;
  FakeModel model(ranks(), rank());
  auto info = CheckpointRun::info(0);
  info.deck = std::string(200'000, 'd') + "end";
  info.git = info.tokenizer = "";
  write_checkpoint(run.path(), model.fill(0), info, 1, world());
  const auto found = read_checkpoint(run.file(0), model, world());
  CHECK(same_info(found, info));
  CHECK(same_info(read_checkpoint_info(run.file(0)), info));
}
