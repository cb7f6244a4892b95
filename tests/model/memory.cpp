/// Frames in use: what a debug build does for them.
#include "model/memory.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>
#include <string>

#include "core/streams.hpp"
#include "support/views.hpp"

using namespace annulus;
using namespace annulus::model;
using namespace annulus::test;

namespace {

constexpr bool debug_build = MemoryPlan::red_zone > 0;

/// Two buffers of a frame, the first of a size that needs padding.
struct TwoBuffers {
  MemoryPlan plan;
  Slot<float> first, second;

  TwoBuffers() {
    plan.open_frame("frame");
    first = {Lifetime::scratch, plan.reserve(Lifetime::scratch, "first", 25 * sizeof(float), "frame"), 25};
    second = {Lifetime::scratch, plan.reserve(Lifetime::scratch, "second", 64 * sizeof(float), "frame"), 64};
    plan.close_frame();
  }
};

/// Writes one element past the first buffer while its frame is open.
void overflow() {
  const Streams streams;
  const TwoBuffers two;
  const Memory memory(streams.compute(), two.plan);
  const Frame frame(memory, streams.compute(), "frame");
  const Vector<float> past(memory.data(two.first) + two.first.count, 1);
  Kokkos::deep_copy(streams.compute(), past, 1);
}

}  // namespace

TEST_CASE("memory: an overflow, for the case below", "[.overflow]") { overflow(); }

TEST_CASE("memory: a debug build ends with the name of the buffer that something wrote past", "[model]") {
  if (!debug_build) SKIP("only debug builds have red zones");
  std::FILE* const child = popen("/proc/$PPID/exe '[.overflow]' 2>&1", "r");
  REQUIRE(child != nullptr);
  std::string output;
  for (int c; (c = std::fgetc(child)) != EOF;) output += static_cast<char>(c);
  CHECK(pclose(child) != 0);
  CHECK(output.find("4 bytes past the end of the buffer first") != std::string::npos);
}

TEST_CASE("memory: a debug build opens a frame with NaN in it, never with what an earlier one has left", "[model]") {
  if (!debug_build) SKIP("only debug builds poison frames");
  const Streams streams;
  const TwoBuffers two;
  const Memory memory(streams.compute(), two.plan);
  const Vector<float> first = memory.vector(two.first), second = memory.vector(two.second);
  {
    const Frame frame(memory, streams.compute(), "frame");
    Kokkos::deep_copy(streams.compute(), first, 1);
    Kokkos::deep_copy(streams.compute(), second, 1);
  }
  const Frame frame(memory, streams.compute(), "frame");
  for (const auto& buffer : {first, second})
    for (const double value : download(buffer)) CHECK(std::isnan(value));
}

TEST_CASE("memory: what is persistent begins with zeros", "[model]") {
  MemoryPlan plan;
  const Slot<double> slot{Lifetime::persistent, plan.reserve(Lifetime::persistent, "a", 8000, "the run"), 1000};
  const Streams streams;
  const Memory memory(streams.compute(), plan);
  CHECK(norm(download(memory.vector(slot))) == 0);
}
