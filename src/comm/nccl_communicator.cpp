#include "comm/nccl_communicator.hpp"

#include <cassert>
#include <cstring>
#include <deque>
#include <exception>
#include <vector>

#include "comm/nccl_library.hpp"
#include "comm/parts.hpp"
#include "core/bf16.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "core/views.hpp"

namespace annulus::comm {

namespace {

constexpr index_t slice_bytes = index_t(4) << 20;

void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) throw Error(Exit::internal, text(call, ": ", cudaGetErrorString(code)));
}

/// Events that no operation uses at the moment.
class SpareEvents {
 public:
  ~SpareEvents() {
    for (const cudaEvent_t event : spare_) cudaEventDestroy(event);
  }
  cudaEvent_t take() {
    cudaEvent_t event;
    if (spare_.empty()) {
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    } else {
      event = spare_.back();
      spare_.pop_back();
    }
    return event;
  }
  void give_back(cudaEvent_t event) { spare_.push_back(event); }

 private:
  std::vector<cudaEvent_t> spare_;
};

/// What a stream was given up to now. A stream that was told to wait keeps to that when the event is used again.
class Mark : public Ticket::Pending {
 public:
  Mark(std::shared_ptr<SpareEvents> spares, cudaStream_t stream) : spares_(std::move(spares)), event_(spares_->take()) {
    check(cudaEventRecord(event_, stream), "cudaEventRecord");
  }
  ~Mark() override { spares_->give_back(event_); }
  void wait(const Exec& exec) override { hold(exec.cuda_stream()); }
  void hold(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, event_), "cudaStreamWaitEvent"); }
  bool reached() const { return cudaEventQuery(event_) == cudaSuccess; }

 private:
  std::shared_ptr<SpareEvents> spares_;
  cudaEvent_t event_;
};

struct Stream {
  Stream() { check(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
  ~Stream() { cudaStreamDestroy(handle); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t handle;
};

/// out[i] = the terms of all ranks at i in rank order, floats carried in Accum<V>. Rank r's begin at received + r *
/// stride, but those of rank `me` at `own`.
template <class V>
void reduce_in_order(const Exec& exec, Reduction reduction, int ranks, int me, const void* own_term,
                     const void* received_terms, index_t stride, void* result, index_t count) {
  using Carried = std::conditional_t<std::is_integral_v<V>, V, Accum<V>>;
  const auto own = static_cast<const V*>(own_term);
  const auto received = static_cast<const V*>(received_terms);
  const auto out = static_cast<V*>(result);
  const bool sum = reduction == Reduction::sum;
  Kokkos::parallel_for(
      "annulus::comm::reduce_in_order", Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, count),
      KOKKOS_LAMBDA(index_t i) {
        const auto term = [=](int r) { return Carried(r == me ? own[i] : received[r * stride + i]); };
        Carried carried = term(0);
        for (int r = 1; r < ranks; ++r) {
          const Carried value = term(r);
          if (sum)
            carried += value;
          else if (value > carried || value != value)
            carried = value;
        }
        out[i] = V(carried);
      });
}

class NcclCommunicator : public Communicator {
 public:
  explicit NcclCommunicator(std::unique_ptr<Communicator> host)
      : host_(std::move(host)), exec_(stream_.handle), received_("annulus::comm::received", size() * slice_bytes) {
    static_assert(sizeof(ncclUniqueId) % sizeof(std::int64_t) == 0);
    constexpr index_t words = sizeof(ncclUniqueId) / sizeof(std::int64_t);
    std::int64_t told[words] = {};
    ncclUniqueId id;
    if (rank() == 0) {
      check(nccl().get_unique_id(&id), "ncclGetUniqueId");
      std::memcpy(told, &id, sizeof(id));
    }
    host_->agree({told, words, Scalar::int64}, Reduction::sum);
    std::memcpy(&id, told, sizeof(id));
    const ncclResult_t code = nccl().init_rank(&comm_, size(), id, rank());
    if (code != ncclSuccess) throw Error(Exit::refused, message(code, "ncclCommInitRank"));
  }
  ~NcclCommunicator() override {
    // When an error is on its way out, the other ranks may never come to what this would wait for.
    if (std::uncaught_exceptions() > 0) {
      nccl().abort(comm_);
      return;
    }
    cudaStreamSynchronize(stream_.handle);
    nccl().destroy(comm_);
  }

  int rank() const override { return host_->rank(); }
  int size() const override { return host_->size(); }
  const std::string& name() const override { return host_->name(); }
  const char* transport() const override { return "nccl"; }

  Ticket send_recv(const Exec& after, ConstValues sent, int to, Values received, int from) override {
    return issued(after, sent, received, [&] {
      grouped([&] {
        send(sent.data, sent.bytes(), to);
        receive(received.data, received.bytes(), from);
      });
    });
  }
  Ticket all_reduce(const Exec& after, Values values, Reduction reduction) override {
    const Parts parts{values.count, size()};
    const Values own{at(values.data, parts.begin(rank()) * size_of(values.type)), parts.size(rank()), values.type};
    return issued(after, values, values, [&] { reduce(values, own, reduction, values.data); });
  }
  Ticket reduce_scatter(const Exec& after, ConstValues parts, Values own) override {
    assert(parts.count == size() * own.count && parts.type == own.type);
    return issued(after, parts, own, [&] { reduce(parts, own, Reduction::sum, nullptr); });
  }
  Ticket all_gather(const Exec& after, ConstValues own, Values all) override {
    assert(all.count == size() * own.count && all.type == own.type);
    return issued(after, own, all, [&] {
      check(nccl().all_gather(own.data, all.data, own.bytes(), ncclInt8, comm_, stream_.handle), "ncclAllGather");
    });
  }
  Ticket all_to_all(const Exec& after, ConstValues sent, Values received) override {
    assert(sent.count == received.count && sent.count % size() == 0 && sent.type == received.type);
    const index_t part = sent.bytes() / size();
    return issued(after, sent, received, [&] {
      grouped([&] {
        for (int r = 0; r < size(); ++r) {
          send(at(sent.data, r * part), part, r);
          receive(at(received.data, r * part), part, r);
        }
      });
    });
  }
  Ticket broadcast(const Exec& after, Values values, int root) override {
    return issued(after, values, values, [&] {
      check(nccl().broadcast(values.data, values.data, values.bytes(), ncclInt8, root, comm_, stream_.handle),
            "ncclBroadcast");
    });
  }

  void release(const void* buffer, const Exec& exec) override {
    for (auto use = uses_.rbegin(); use != uses_.rend(); ++use)
      if (use->touches(buffer)) return use->done->wait(exec);  // earlier ones are done before it
  }
  void agree(Values values, Reduction reduction) override { host_->agree(values, reduction); }
  void barrier() override { host_->barrier(); }
  std::unique_ptr<Communicator> split(int color, int key, std::string name) override {
    return nccl_communicator(host_->split(color, key, std::move(name)));
  }

 private:
  struct Use {
    ConstValues a, b;
    std::shared_ptr<Mark> done;
    bool touches(const void* byte) const {
      for (const ConstValues& values : {a, b})
        if (byte >= values.data && byte < at(values.data, values.bytes())) return true;
      return false;
    }
  };

  static void* at(void* data, index_t bytes) { return static_cast<std::byte*>(data) + bytes; }
  static const void* at(const void* data, index_t bytes) { return static_cast<const std::byte*>(data) + bytes; }

  std::string message(ncclResult_t code, const char* call) const {
    return text(call, ", on rank ", rank(), " of \"", name(), "\": ", nccl().error_string(code), " (",
                nccl().last_error(comm_), ")");
  }
  void check(ncclResult_t code, const char* call) const {
    if (code != ncclSuccess) throw Error(Exit::internal, message(code, call));
  }

  template <class Post>
  Ticket issued(const Exec& after, ConstValues a, ConstValues b, const Post& post) {
    ncclResult_t earlier = ncclSuccess;
    check(nccl().async_error(comm_, &earlier), "ncclCommGetAsyncError");
    check(earlier, "an earlier operation");
    Mark(spares_, after.cuda_stream()).hold(stream_.handle);
    post();
    while (!uses_.empty() && uses_.front().done->reached()) uses_.pop_front();
    uses_.push_back({a, b, std::make_shared<Mark>(spares_, stream_.handle)});
    return Ticket(uses_.back().done);
  }

  template <class Post>
  void grouped(const Post& post) {
    check(nccl().group_start(), "ncclGroupStart");
    post();
    check(nccl().group_end(), "ncclGroupEnd");
  }
  void send(const void* data, index_t bytes, int to) {
    if (bytes > 0) check(nccl().send(data, bytes, ncclInt8, to, comm_, stream_.handle), "ncclSend");
  }
  void receive(void* data, index_t bytes, int from) {
    if (bytes > 0) check(nccl().receive(data, bytes, ncclInt8, from, comm_, stream_.handle), "ncclRecv");
  }

  /// Slice by slice: the parts' terms to the ranks that sum them, then the sums to everyone's `sums` unless null.
  void reduce(ConstValues all, Values own, Reduction reduction, void* sums) {
    const int me = rank();
    const Parts parts{all.count, size()};
    const index_t element = size_of(all.type), slice = slice_bytes / element;
    for (index_t s = 0; s * slice < parts.size(0); ++s) {
      const auto bytes = [&](int r) { return parts.slice_size(r, s, slice) * element; };
      const auto place = [&](int r) { return (parts.begin(r) + s * slice) * element; };
      void* const sum = at(own.data, s * slice_bytes);
      grouped([&] {
        for (int r = 0; r < size(); ++r) {
          if (r == me) continue;
          send(at(all.data, place(r)), bytes(r), r);
          receive(received_.data() + r * slice_bytes, bytes(me), r);
        }
      });
      add(all.type, reduction, at(all.data, place(me)), slice, sum, bytes(me) / element);
      if (!sums) continue;
      grouped([&] {
        for (int r = 0; r < size(); ++r) {
          if (r == me) continue;
          send(sum, bytes(me), r);
          receive(at(sums, place(r)), bytes(r), r);
        }
      });
    }
  }

  void add(Scalar type, Reduction reduction, const void* own, index_t stride, void* out, index_t count) {
    const auto run = [&](auto value) {
      reduce_in_order<decltype(value)>(exec_, reduction, size(), rank(), own, received_.data(), stride, out, count);
    };
    switch (type) {
      case Scalar::bf16:
        return run(bf16{});
      case Scalar::fp32:
        return run(float{});
      case Scalar::fp64:
        return run(double{});
      case Scalar::int32:
        return run(std::int32_t{});
      case Scalar::int64:
        return run(std::int64_t{});
    }
  }

  std::unique_ptr<Communicator> host_;
  Stream stream_;
  Exec exec_;
  Kokkos::View<std::byte*, Exec::memory_space> received_;  ///< a slice from each rank
  std::shared_ptr<SpareEvents> spares_ = std::make_shared<SpareEvents>();
  std::deque<Use> uses_;  ///< what may be under way, in order of issue
  ncclComm_t comm_ = nullptr;
};

}  // namespace

std::unique_ptr<Communicator> nccl_communicator(std::unique_ptr<Communicator> host) {
  if (host->size() == 1) return host;
  return std::make_unique<NcclCommunicator>(std::move(host));
}

}  // namespace annulus::comm
