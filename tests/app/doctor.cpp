#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/diagnosis.hpp"
#include "app/program_under_test.hpp"

using namespace annulus;
using namespace annulus::app;
using namespace annulus::test;
using Catch::Matchers::ContainsSubstring;
using Verdict = Finding::Verdict;

namespace {

/// As from a shell where nothing is set.
const std::string bare = "env -u OMP_NUM_THREADS -u OMP_PROC_BIND -u OMP_WAIT_POLICY -u OPENBLAS_CORETYPE ";

/// What the doctor says about threads, where the environment has `settings`.
Finding threads_with(const std::vector<std::pair<const char*, const char*>>& settings, comm::CoreShare share,
                     int threads) {
  for (const char* name : {"OMP_WAIT_POLICY", "OMP_PROC_BIND", "GOMP_SPINCOUNT"}) unsetenv(name);
  for (const auto& [name, value] : settings) setenv(name, value, 1);
  return threads_finding(share, threads);
}

}  // namespace

TEST_CASE("doctor: each line says OK, on one rank and on two", "[app]") {
  const auto folder = std::filesystem::temp_directory_path();
  for (const std::string& launch : {std::string(), on_ranks(2)}) {
    const Outcome outcome = run(bare + launch + annulus_path + " doctor --directory " + folder.string());
    CAPTURE(launch, outcome.output);
    CHECK(outcome.code == 0);
    for (const char* subject : {"MPI ", "threads ", "products ", "file locks ", "Kokkos ", "copy ", "gemm ", "ring "})
      CHECK_THAT(outcome.output, ContainsSubstring(subject));
  }
}

TEST_CASE("doctor: JSON holds the same lines and the rates", "[app]") {
  const Outcome outcome = run(bare + on_ranks(2) + annulus_path + " doctor --json 2>/dev/null");
  const auto report = nlohmann::json::parse(outcome.output);
  CHECK(report["findings"].size() == 8);
  for (const char* rate : {"copy_gb_s", "gemm_gflop_s", "ring_gb_s", "ring_us"}) CHECK(report["rates"][rate] > 0.0);
}

TEST_CASE("doctor: something wrong is exit 4, with what to do", "[app]") {
  const Outcome outcome = run(bare + "OMP_NUM_THREADS=64 " + annulus_path + " doctor --directory /no/such/folder");
  CHECK(outcome.code == 4);
  CHECK_THAT(outcome.output, ContainsSubstring("threads     WRONG") && ContainsSubstring("unset OMP_NUM_THREADS"));
  CHECK_THAT(outcome.output, ContainsSubstring("file locks  WRONG") && ContainsSubstring("--directory"));
}

TEST_CASE("doctor: threads that wait for cores, and ranks bound to the same ones, are wrong", "[app]") {
  const comm::CoreShare shared{8, 8, 4}, own{2, 8, 4};
  CHECK(threads_with({{"OMP_WAIT_POLICY", "passive"}}, shared, 2).verdict == Verdict::ok);
  const Finding many = threads_with({{"OMP_WAIT_POLICY", "passive"}}, shared, 3);
  CHECK(many.verdict == Verdict::wrong);
  CHECK_THAT(many.advice, ContainsSubstring("set it to 2"));
  CHECK(threads_with({{"OMP_PROC_BIND", "true"}}, shared, 2).verdict == Verdict::wrong);
  CHECK(threads_with({{"OMP_WAIT_POLICY", "passive"}, {"OMP_PROC_BIND", "true"}}, own, 2).verdict == Verdict::ok);
  CHECK(threads_with({}, shared, 2).verdict == Verdict::slow);  // idle threads spin
  CHECK(threads_with({{"OMP_WAIT_POLICY", "passive"}}, {2, 2, 4}, 1).verdict == Verdict::slow);
}

TEST_CASE("doctor: a BLAS that runs kernels of an old processor is slow, with the setting that mends it", "[app]") {
  if (!__builtin_cpu_supports("avx2")) SKIP("this processor is an old one");
  CHECK(products_finding("fp64: KokkosBlas (OpenBLAS 0.3.21 DYNAMIC_ARCH Haswell)").verdict == Verdict::ok);
  CHECK(products_finding("KokkosBlas (BLIS Prescott)").verdict == Verdict::ok);
  const Finding finding = products_finding("fp64: KokkosBlas (OpenBLAS 0.3.21 DYNAMIC_ARCH Prescott MAX_THREADS=64)");
  CHECK(finding.verdict == Verdict::slow);
  CHECK_THAT(finding.advice, ContainsSubstring("OPENBLAS_CORETYPE="));
}

TEST_CASE("doctor: file locks are tried where runs are going to write", "[app]") {
  const auto folder = std::filesystem::temp_directory_path() / "annulus_doctor";
  std::filesystem::create_directory(folder);
  CHECK(locking_finding(folder).verdict == Verdict::ok);
  CHECK(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
  CHECK(locking_finding(folder).verdict == Verdict::wrong);
}
