#include "comm/nccl_communicator.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>

#include "comm/event_ticket.hpp"
#include "comm/gathered_reduction.hpp"
#include "comm/mpi_session.hpp"
#include "comm/nccl_library.hpp"
#include "comm/parts.hpp"
#include "comm/polling.hpp"
#include "comm/queue.hpp"
#include "comm/watch.hpp"
#include "core/cuda_error.hpp"
#include "core/error.hpp"
#include "core/events.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace annulus::comm {

namespace {

constexpr index_t small_bytes = index_t(1) << 14;  // up to here, one exchange of everything beats two of parts

std::byte* at(void* data, index_t offset) { return static_cast<std::byte*>(data) + offset; }
const std::byte* at(const void* data, index_t offset) { return static_cast<const std::byte*>(data) + offset; }

/// Everything goes to one stream, in the order of the calls, so that one event stands for all that came before it.
class NcclCommunicator : public Communicator {
 public:
  explicit NcclCommunicator(std::unique_ptr<Communicator> host) : host_(std::move(host)) {
    ncclUniqueId id{};
    static_assert(sizeof id % sizeof(std::int32_t) == 0);
    if (rank() == 0) check(nccl_.get_unique_id(&id), "ncclGetUniqueId");
    host_->agree({&id, sizeof id / sizeof(std::int32_t), Scalar::int32}, Reduction::sum);  // the others' are zeros
    check(nccl_.init_rank(&handle_, size(), id, rank()), "ncclCommInitRank");
    check_cuda(cudaGetDevice(&device_), "cudaGetDevice");
    watch_.emplace([this] { look(); });
  }
  ~NcclCommunicator() override {
    if (std::uncaught_exceptions() > 0) {  // what is under way may wait for ranks that never come
      watch_.reset();
      nccl_.abort(handle_);
    } else {
      cudaStreamSynchronize(queue_.stream());
      watch_.reset();
      nccl_.destroy(handle_);
    }
    cudaFree(gathered_);
  }

  int rank() const override { return host_->rank(); }
  int size() const override { return host_->size(); }
  const std::string& name() const override { return host_->name(); }
  const char* transport() const override { return "nccl"; }

  Ticket send_recv(const Exec& after, ConstValues send, int to, Values receive, int from) override {
    begin(after);
    grouped("send_recv", [&] {
      send_to(to, send.data, send.bytes());
      receive_from(from, receive.data, receive.bytes());
    });
    return issued("send_recv", send, receive);
  }

  Ticket all_reduce(const Exec& after, Values values, Reduction reduction) override {
    begin(after);
    if (values.bytes() <= small_bytes)
      reduce_everything(values, reduction);
    else
      reduce_parts(values, part_of(values), reduction, true);
    return issued("all_reduce", values, values);
  }

  Ticket reduce_scatter(const Exec& after, ConstValues parts, Values own) override {
    assert(parts.count == size() * own.count && parts.type == own.type);
    begin(after);
    reduce_parts(parts, own, Reduction::sum, false);
    return issued("reduce_scatter", parts, own);
  }

  Ticket all_gather(const Exec& after, ConstValues own, Values all) override {
    assert(all.count == size() * own.count);
    begin(after);
    gather(own, all.data);
    return issued("all_gather", own, all);
  }

  Ticket all_to_all(const Exec& after, ConstValues send, Values receive) override {
    assert(send.bytes() == receive.bytes() && send.count % size() == 0);
    begin(after);
    const index_t part = send.bytes() / size();
    grouped("all_to_all", [&] {
      for (int r = 0; r < size(); ++r) {
        send_to(r, at(send.data, r * part), part);
        receive_from(r, at(receive.data, r * part), part);
      }
    });
    return issued("all_to_all", send, receive);
  }

  Ticket broadcast(const Exec& after, Values values, int root) override {
    begin(after);
    if (values.count > 0)
      check(nccl_.broadcast(values.data, values.data, values.bytes(), ncclInt8, root, handle_, queue_.stream()),
            "broadcast");
    return issued("broadcast", values, values);
  }

  void release(const void* buffer, const Exec& exec) override {
    const std::lock_guard lock(mutex_);
    const auto last =
        std::find_if(under_way_.rbegin(), under_way_.rend(), [=](const auto& o) { return o.uses(buffer); });
    if (last != under_way_.rend()) last->done->wait(exec);
  }
  void agree(Values values, Reduction reduction) override { host_->agree(values, reduction); }
  void barrier() override { host_->barrier(); }
  std::unique_ptr<Communicator> split(int color, int key, std::string name) override {
    return nccl_communicator(host_->split(color, key, std::move(name)));
  }

 private:
  struct Operation {
    std::shared_ptr<Event> done;
    std::array<ConstValues, 2> buffers;
    const char* name;
    index_t number;
    bool uses(const void* byte) const {
      return std::any_of(buffers.begin(), buffers.end(), [=](const ConstValues& values) {
        return byte >= at(values.data, 0) && byte < at(values.data, values.bytes());
      });
    }
  };

  void check(ncclResult_t code, const char* call) const {
    if (code == ncclSuccess) return;
    throw Error(Exit::internal, text("communication failed on rank ", rank(), " of ", size(), " of \"", name(),
                                     "\": ", call, ": ", nccl_.error_string(code), ": ", nccl_.last_error(handle_)));
  }

  void begin(const Exec& after) { events_.record(after)->wait(queue_.exec()); }

  Ticket issued(const char* name, ConstValues first, ConstValues second) {
    const std::lock_guard lock(mutex_);
    forget_done();
    under_way_.push_back({events_.record(queue_.exec()), {first, second}, name, operations_++});
    return event_ticket(under_way_.back().done);
  }

  void forget_done() {
    while (!under_way_.empty() && under_way_.front().done->reached()) {
      under_way_.pop_front();
      moved_ = Clock::now();
    }
    if (under_way_.empty()) moved_ = Clock::now();
  }

  /// From a thread of its own, because whoever waits for a message on a GPU hears of no error: ends the job when NCCL
  /// tells of one, or when nothing has moved for watchdog_seconds().
  void look() {
    try {
      check_cuda(cudaSetDevice(device_), "cudaSetDevice");
      ncclResult_t state = ncclSuccess;
      check(nccl_.async_error(handle_, &state), "ncclCommGetAsyncError");
      if (state != ncclInProgress) check(state, "a transfer under way");
      const std::lock_guard lock(mutex_);
      forget_done();
      if (std::chrono::duration<double>(Clock::now() - moved_).count() < watchdog_seconds()) return;
      const Operation& oldest = under_way_.front();
      throw Error(Exit::internal, text("rank ", rank(), " of ", size(), " of \"", name(), "\": nothing has moved for ",
                                       watchdog_seconds(), " s in ", oldest.name, ", operation ", oldest.number,
                                       " over NCCL; ", under_way_.size(), " under way; ending the job"));
    } catch (const Error& error) {
      log::error(error.what());
      abort_job(Exit::internal);
    }
  }

  /// Messages that wait for one another: they must be issued as one.
  template <class Issue>
  void grouped(const char* call, const Issue& issue) {
    check(nccl_.group_start(), call);
    issue();
    check(nccl_.group_end(), call);
  }
  // Both ends know a length, so nothing is sent where it is zero.
  void send_to(int rank, const void* data, index_t bytes) {
    if (bytes > 0) check(nccl_.send(data, bytes, ncclInt8, rank, handle_, queue_.stream()), "ncclSend");
  }
  void receive_from(int rank, void* data, index_t bytes) {
    if (bytes > 0) check(nccl_.receive(data, bytes, ncclInt8, rank, handle_, queue_.stream()), "ncclRecv");
  }
  void gather(ConstValues own, void* all) {
    if (own.count > 0)
      check(nccl_.all_gather(own.data, all, own.bytes(), ncclInt8, handle_, queue_.stream()), "all_gather");
  }

  // NCCL's own reductions add in an order that follows from the machine's links and round bf16 at every hop. These add
  // in rank order, with the bits of comm/ordered_reduction.hpp.

  Values part_of(Values values) const {
    const Parts parts{values.count, size()};
    return {at(values.data, parts.begin(rank()) * size_of(values.type)), parts.size(rank()), values.type};
  }

  void* gathered() {
    if (!gathered_) check_cuda(cudaMalloc(&gathered_, size() * nccl_slice_bytes), "cudaMalloc");
    return gathered_;
  }

  void reduce_everything(Values values, Reduction reduction) {
    if (values.count == 0) return;
    gather(values, gathered());
    reduce_gathered(queue_.exec(), reduction, {gathered(), values.count, values.data, rank(), size()}, values);
  }

  /// Slice by slice: the parts' terms to the ranks that sum them, then, if wanted, the sums to everyone.
  void reduce_parts(ConstValues all, Values own, Reduction reduction, bool return_sums) {
    const Parts parts{all.count, size()};
    const index_t width = size_of(all.type), most = nccl_slice_bytes / width;
    for (index_t begin = 0; begin < parts.size(0); begin += most) {
      const auto bytes = [&](int r) { return width * std::clamp<index_t>(parts.size(r) - begin, 0, most); };
      const auto place = [&](int r) { return width * (parts.begin(r) + begin); };
      const Values slice{at(own.data, width * begin), bytes(rank()) / width, own.type};
      grouped("exchange of terms", [&] {
        for_others([&](int r) {
          send_to(r, at(all.data, place(r)), bytes(r));
          receive_from(r, at(gathered(), r * nccl_slice_bytes), slice.bytes());
        });
      });
      if (slice.count > 0)
        reduce_gathered(queue_.exec(), reduction, {gathered(), most, at(all.data, place(rank())), rank(), size()},
                        slice);
      if (!return_sums) continue;
      std::byte* const values = at(own.data, -width * parts.begin(rank()));  // in place: own is this rank's part
      grouped("exchange of sums", [&] {
        for_others([&](int r) {
          send_to(r, slice.data, slice.bytes());
          receive_from(r, at(values, place(r)), bytes(r));
        });
      });
    }
  }

  template <class Body>
  void for_others(const Body& body) const {
    for (int r = 0; r < size(); ++r)
      if (r != rank()) body(r);
  }

  using Clock = std::chrono::steady_clock;

  const NcclLibrary& nccl_ = nccl_library();
  std::unique_ptr<Communicator> host_;
  Queue queue_;
  ncclComm_t handle_ = nullptr;
  EventPool events_;
  std::mutex mutex_;  ///< of what the watch looks at
  std::deque<Operation> under_way_;
  index_t operations_ = 0;  ///< issued so far
  Clock::time_point moved_ = Clock::now();
  void* gathered_ = nullptr;  ///< (size) slices, from the first reduction on
  int device_ = 0;
  std::optional<Watch> watch_;
};

}  // namespace

std::unique_ptr<Communicator> nccl_communicator(std::unique_ptr<Communicator> host) {
  if (host->size() == 1) return host;  // copies in any memory
  return std::make_unique<NcclCommunicator>(std::move(host));
}

}  // namespace annulus::comm
