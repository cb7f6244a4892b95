/// Programs that share nothing with ours read our checkpoints.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdio>

#include "comm/self_communicator.hpp"
#include "io/checkpoint.hpp"
#include "io/fake_model.hpp"
#include "io/scratch_folder.hpp"
#include "support/places.hpp"

using namespace annulus;
using namespace annulus::io;
using namespace annulus::test;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Output {
  std::string text;
  int status;
};

Output output_of(const std::string& command) {
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  Output output;
  std::array<char, 4096> part;
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe))
    output.text.append(part.data(), count);
  output.status = pclose(pipe);
  return output;
}

std::filesystem::path write(const ScratchFolder& folder, Scalar compute) {
  CheckpointInfo info;
  info.counters.step = 12;
  info.deck = "[run]\nname = \"readers\"\n";
  info.tokenizer = "byte";
  FakeModel model(1, 0, compute);
  write_checkpoint(folder.path(), model.fill(12), info, 1, *comm::self_communicator("world"));
  return checkpoint_path(folder.path(), 12);
}

}  // namespace

TEST_CASE("checkpoint: h5py reads it and numpy finds the same hashes", "[io]") {
  std::string python;
  for (const char* candidate : {"python3", "/usr/bin/python3"})
    if (python.empty() && output_of(std::string(candidate) + " -c 'import h5py, numpy'").status == 0)
      python = candidate;
  if (python.empty()) SKIP("needs a python3 with h5py and numpy: apt python3-h5py");

  const ScratchFolder folder;
  const Scalar compute = GENERATE(Scalar::fp32, Scalar::bf16);
  const auto file = write(folder, compute);
  const std::string verify = python + " " + source_path("tools/read_checkpoint.py") + " --verify " + file.string();
  const auto good = output_of(verify);
  INFO(good.text);
  CHECK(good.status == 0);
  CHECK_THAT(good.text, ContainsSubstring(compute == Scalar::bf16 ? "28 tensors, 0 with" : "21 tensors, 0 with"));
  CHECK_THAT(good.text, ContainsSubstring("optim/m/layers.0.attention.q") && ContainsSubstring("(37, 67)"));

  std::string bytes = content(file);
  bytes[bytes.size() - 20] ^= 4;  // in the last tensor's values
  put(file, bytes);
  const auto bad = output_of(verify);
  INFO(bad.text);
  CHECK(bad.status != 0);
  CHECK_THAT(bad.text, ContainsSubstring("1 with another hash") && ContainsSubstring("HASH DIFFERS"));
}

TEST_CASE("checkpoint: h5dump reads it, deck and bf16 values included", "[io]") {
  if (output_of("h5dump --version").status != 0) SKIP("needs h5dump: apt hdf5-tools");
  const ScratchFolder folder;
  FakeModel model(1, 0, Scalar::bf16);
  const auto file = write(folder, Scalar::bf16);
  const auto header = output_of("h5dump -H " + file.string());
  CHECK(header.status == 0);
  CHECK_THAT(header.text, ContainsSubstring("DATASET \"layers.0.attention.q\"") && ContainsSubstring("( 37, 67 )") &&
                              ContainsSubstring("16-bit little-endian floating-point"));
  const auto deck = output_of("h5dump -a /run/deck " + file.string());
  CHECK_THAT(deck.text, ContainsSubstring("[run]") && ContainsSubstring("readers"));
  const auto values = output_of("h5dump -d /params/norm -y -w 1 " + file.string());
  CHECK(values.status == 0);
}
