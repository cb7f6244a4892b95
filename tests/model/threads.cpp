/// The same bits whatever the number of threads: this program runs itself with one and with two and compares what they
/// leave.
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/views.hpp"
#include "model/rig.hpp"

using namespace annulus;
using namespace annulus::model;
using namespace annulus::test;

namespace {

constexpr const char* file_variable = "ANNULUS_TEST_BITS";

template <class T>
void append(std::ofstream& out, const T& values) {
  out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
}

/// Everything that two steps leave of a model large enough for two threads to share its work.
void write_bits(std::ofstream& out, const char* compute) {
  ModelConfig config = small_model(301, 2, true);
  config.model = {.layers = 2, .width = 192, .heads = 6, .kv_heads = 2, .head_dim = 32, .ffn = 320};
  config.precision.compute = compute;
  config.vocabulary = 400;
  Rig rig = alone(config);
  rig.model->initialise(2);
  for (index_t step = 1; step <= 2; ++step) {
    accumulate(rig, {{text_row(config, 2 * step, true), text_row(config, 2 * step + 1, true)}});
    const StepTicket ticket = rig.model->update(
        {.lr = 1e-2, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decay = 0.1, .clip = 0.5, .step = step});
    const StepNumbers numbers = ticket.numbers();
    append(out, Numbers{numbers.nll_sum, numbers.gradient_norm});
  }
  for (const Arena arena : {Arena::gradient, Arena::master, Arena::m, Arena::v})
    for (const auto& [name, values] : tensors(rig, arena)) append(out, values);
}

std::string bits_with(int threads) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                     ("annulus_bits_" + std::to_string(getpid()) + "_" + std::to_string(threads));
  const std::string command = std::string(file_variable) + "=" + file.string() +
                              " OMP_NUM_THREADS=" + std::to_string(threads) + " " + self.string() +
                              " '[.bits]' > /dev/null";
  REQUIRE(std::system(command.c_str()) == 0);
  std::ifstream in(file, std::ios::binary);
  const std::string bits{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(file);
  return bits;
}

}  // namespace

TEST_CASE("model: the bits of two steps, for the case below", "[.bits]") {
  const char* file = std::getenv(file_variable);
  REQUIRE(file != nullptr);
  std::ofstream out(file, std::ios::binary);
  write_bits(out, "fp32");
  write_bits(out, "fp64");
  write_bits(out, "bf16");
  const int threads = Exec{}.concurrency();
  out.write(reinterpret_cast<const char*>(&threads), sizeof threads);
}

TEST_CASE("model: two threads leave the same bits as one", "[model]") {
  if (on_gpu) SKIP("threads are a host's");
  std::string one = bits_with(1), two = bits_with(2);
  const auto threads = [](std::string& bits) {  // what each ran with, which it wrote last
    int count = 0;
    bits.copy(reinterpret_cast<char*>(&count), sizeof count, bits.size() - sizeof count);
    bits.resize(bits.size() - sizeof count);
    return count;
  };
  REQUIRE(threads(one) == 1);
  REQUIRE(threads(two) == 2);
  CHECK(one.size() > 1'000'000);
  CHECK(one == two);
}
