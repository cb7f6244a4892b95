#include "core/streams.hpp"

#include "core/views.hpp"
#ifdef ANNULUS_CUDA
#include "core/cuda_error.hpp"
#endif

namespace annulus {

#ifdef ANNULUS_CUDA

struct Streams::Queues {
  struct Queue {
    cudaStream_t stream;
    Exec exec;
    Queue() : stream(created()), exec(stream) {}
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
