#include "core/streams.hpp"

#include "core/views.hpp"
#ifdef ANNULUS_CUDA
#include "core/cuda_error.hpp"
#endif

namespace annulus {

#ifdef ANNULUS_CUDA

namespace {

/// Kokkos asks CUDA for memory before each kernel of teams as long as it holds none for them, even for none.
void hold_team_memory(const Exec& exec) {
  using Policy = Kokkos::TeamPolicy<Exec>;
  Kokkos::parallel_for("annulus::core::hold_team_memory", Policy(exec, 1, 1).set_scratch_size(1, Kokkos::PerTeam(8)),
                       KOKKOS_LAMBDA(const Policy::member_type&){});
}

}  // namespace

struct Streams::Queues {
  struct Queue {
    cudaStream_t stream;
    Exec exec;
    Queue() : stream(created()), exec(stream) { hold_team_memory(exec); }
    ~Queue() {
      exec.fence("annulus::core::streams[destroyed]");
      exec = Exec();  // before its stream is gone
      cudaStreamDestroy(stream);
    }
    static cudaStream_t created() {
      cudaStream_t stream;
      check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
      return stream;
    }
  };
  Queue compute, ring, reduce, copy;
};
#define ANNULUS_QUEUE(name) \
  const Exec& Streams::name() const { return queues_->name.exec; }

#else

struct Streams::Queues {
  Exec only;
};
#define ANNULUS_QUEUE(name) \
  const Exec& Streams::name() const { return queues_->only; }

#endif

Streams::Streams() : queues_(std::make_unique<Queues>()) {}
Streams::~Streams() = default;
ANNULUS_QUEUE(compute)
ANNULUS_QUEUE(ring)
ANNULUS_QUEUE(reduce)
ANNULUS_QUEUE(copy)
#undef ANNULUS_QUEUE

}  // namespace annulus
