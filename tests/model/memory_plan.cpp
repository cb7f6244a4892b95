#include "model/memory_plan.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace annulus;
using namespace annulus::model;

namespace {

constexpr index_t zone = MemoryPlan::red_zone;

}  // namespace

TEST_CASE("memory plan: buffers of a lifetime are aligned and follow each other", "[model]") {
  MemoryPlan plan;
  CHECK(plan.reserve(Lifetime::persistent, "a", 1000, "the run") == 0);
  CHECK(plan.reserve(Lifetime::saved, "x", 256, "backward") == 0);
  CHECK(plan.reserve(Lifetime::persistent, "b", 1, "the run") == 1024 + zone);
  CHECK(plan.bytes(Lifetime::persistent) == 1024 + 256 + 2 * zone);
  CHECK(plan.bytes(Lifetime::saved) == 256 + zone);
  CHECK(plan.bytes(Lifetime::scratch) == 0);
  CHECK(plan.rows()[0].bytes == 1000);
}

TEST_CASE("memory plan: a frame's memory is reused after it closes; scratch is as large as the deepest stack",
          "[model]") {
  MemoryPlan plan;
  plan.open_frame("outer");
  CHECK(plan.reserve(Lifetime::scratch, "a", 512, "outer") == 0);
  plan.open_frame("left");
  CHECK(plan.reserve(Lifetime::scratch, "b", 4096, "left") == 512 + zone);
  plan.close_frame();
  plan.open_frame("right");
  CHECK(plan.reserve(Lifetime::scratch, "c", 256, "right") == 512 + zone);
  CHECK(plan.reserve(Lifetime::scratch, "d", 256, "right") == 768 + 2 * zone);
  plan.close_frame();
  CHECK(plan.reserve(Lifetime::scratch, "e", 256, "outer") == 512 + zone);
  plan.close_frame();
  CHECK(plan.bytes(Lifetime::scratch) == 512 + 4096 + 2 * zone);
}

TEST_CASE("memory plan: the total is what is allocated; a library's own memory is listed beside it", "[model]") {
  MemoryPlan plan;
  plan.reserve(Lifetime::persistent, "a", 512, "the run");
  const index_t before = plan.total();
  plan.reserve(Lifetime::library, "cuBLAS workspace", 1 << 20, "the run");
  CHECK(plan.total() == before);
  CHECK(plan.table().find("cuBLAS workspace") != std::string::npos);
  CHECK(plan.table().find(MemoryPlan::label(Lifetime::persistent)) != std::string::npos);
}
