/// A run's folder that all ranks share, and what a test of checkpoints does with it.
#pragma once
#include <memory>
#include <optional>

#include "comm/mpi_communicator.hpp"
#include "comm/self_communicator.hpp"
#include "core/error.hpp"
#include "io/agreement.hpp"
#include "io/checkpoint.hpp"
#include "io/fake_model.hpp"
#include "io/scratch_folder.hpp"
#include "support/ranks.hpp"

namespace annulus::test {

inline comm::Communicator& world() {
  static comm::Communicator* const world =  // never freed: MPI ends before static objects do
      (ranks() > 1 ? comm::world_communicator() : comm::self_communicator("world")).release();
  return *world;
}

class CheckpointRun {
 public:
  CheckpointRun() {
    if (rank() == 0) scratch_.emplace();
    path_ = io::Agreement(world()).of_first(scratch_ ? scratch_->path().string() : "");
  }
  ~CheckpointRun() { world().barrier(); }
  CheckpointRun(const CheckpointRun&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(index_t step) const { return io::checkpoint_path(path_, step); }

  static io::CheckpointInfo info(index_t step) {
    return {.counters = {.step = step,
                         .sample = 8 * step,
                         .tokens = 8192 * step,
                         .seed = ~std::uint64_t{0} - 4,
                         .best_validation = 2.5 + 1.0 / 3},
            .deck = "[run]\nname = \"tüst\"\n",
            .git = "0123abcd",
            .data_fingerprint = "00ff00ff00ff00ff",
            .rope_history = R"([{"scaling":"none","step":0,"theta":10000.0}])",
            .tokenizer = "byte",
            .compute_type = "",
            .tensors = {}};
  }

  /// Collective over `group`.
  void write(index_t step, comm::Communicator& group = world(), Scalar compute = Scalar::fp32,
             Scalar state = Scalar::fp32, index_t keep = 100) const {
    FakeModel model(group.size(), group.rank(), compute, state);
    io::write_checkpoint(path_, model.fill(step), info(step), keep, group);
  }
  /// Runs `damage` on one rank while the others wait.
  template <class Damage>
  void damage(const Damage& damage) const {
    if (rank() == 0) damage();
    world().barrier();
  }

 private:
  std::optional<ScratchFolder> scratch_;
  std::filesystem::path path_;
};

}  // namespace annulus::test
