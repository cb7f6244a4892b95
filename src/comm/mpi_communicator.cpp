#include "comm/mpi_communicator.hpp"

#include <cassert>
#include <exception>

#include "comm/byte_block.hpp"
#include "comm/device.hpp"
#include "comm/ordered_reduction.hpp"
#include "comm/polling.hpp"
#include "comm/self_communicator.hpp"

namespace annulus::comm {

namespace {

/// Messages that match by their order alone: MPI keeps it between two ranks.
class SendReceive : public Operation {
 public:
  SendReceive(std::shared_ptr<Group> group, ConstValues sent, int to, Values received, int from)
      : Operation(std::move(group), "send_recv"), sent_(sent), received_(received), to_(to), from_(from) {
    touches(sent);
    touches(received);
  }

 private:
  void advance() override {
    if (begun_) return;
    begun_ = true;
    receive(received_.data, received_.bytes(), from_, 0);
    send(sent_.data, sent_.bytes(), to_, 0);
  }

  ConstValues sent_;
  Values received_;
  int to_, from_;
  bool begun_ = false;
};

/// One of MPI's own nonblocking collectives, where its choice of algorithm cannot change a bit.
template <class Post>
class Collective : public Operation {
 public:
  Collective(std::shared_ptr<Group> group, const char* name, ConstValues a, ConstValues b, Post post)
      : Operation(std::move(group), name), post_(std::move(post)) {
    touches(a);
    touches(b);
  }

 private:
  void advance() override {
    if (begun_) return;
    begun_ = true;
    MPI_Request request;
    const int code = post_(group().handle, &request);
    collective(code, request);
  }

  Post post_;
  bool begun_ = false;
};

std::unique_ptr<Communicator> communicator_of(MPI_Comm handle, std::string name);

class MpiCommunicator : public Communicator {
 public:
  explicit MpiCommunicator(std::shared_ptr<Group> group) : group_(std::move(group)) {}
  ~MpiCommunicator() override {
    // When an error is on its way out, the other ranks may never come to what this would wait for.
    if (std::uncaught_exceptions() > 0) return;
    wait_for_all(*group_);
    MPI_Comm_free(&group_->handle);
  }

  int rank() const override { return group_->rank; }
  int size() const override { return group_->size; }
  const std::string& name() const override { return group_->name; }
  const char* transport() const override { return "mpi"; }

  Ticket send_recv(const Exec& after, ConstValues sent, int to, Values received, int from) override {
    finish(after);
    return start(std::make_shared<SendReceive>(group_, sent, to, received, from));
  }
  Ticket all_reduce(const Exec& after, Values values, Reduction reduction) override {
    finish(after);
    return start(ordered_all_reduce(group_, values, reduction, next_tag()));
  }
  Ticket reduce_scatter(const Exec& after, ConstValues parts, Values own) override {
    finish(after);
    return start(ordered_reduce_scatter(group_, parts, own, next_tag()));
  }
  Ticket all_gather(const Exec& after, ConstValues own, Values all) override {
    assert(all.count == size() * own.count && all.type == own.type);
    finish(after);
    const void* const place = static_cast<const std::byte*>(all.data) + rank() * own.bytes();
    return collective("all_gather", own, all, [=](MPI_Comm comm, MPI_Request* request) {
      const ByteBlock block(own.bytes());
      return MPI_Iallgather(own.data == place ? MPI_IN_PLACE : own.data, block.count, block.type, all.data, block.count,
                            block.type, comm, request);
    });
  }
  Ticket all_to_all(const Exec& after, ConstValues sent, Values received) override {
    assert(sent.count == received.count && sent.count % size() == 0 && sent.type == received.type);
    finish(after);
    return collective("all_to_all", sent, received, [=, this](MPI_Comm comm, MPI_Request* request) {
      const ByteBlock block(sent.bytes() / size());
      return MPI_Ialltoall(sent.data, block.count, block.type, received.data, block.count, block.type, comm, request);
    });
  }
  Ticket broadcast(const Exec& after, Values values, int root) override {
    finish(after);
    return collective("broadcast", values, values, [=](MPI_Comm comm, MPI_Request* request) {
      const ByteBlock block(values.bytes());
      return MPI_Ibcast(values.data, block.count, block.type, root, comm, request);
    });
  }

  void release(const void* buffer, const Exec&) override { wait_for_users(*group_, buffer); }

  void agree(Values values, Reduction reduction) override {
    const auto operation = ordered_all_reduce(group_, values, reduction, next_tag());
    start(operation);
    wait_until_done(*operation);
  }

  void barrier() override {
    std::int32_t nothing = 0;
    agree({&nothing, 1, Scalar::int32}, Reduction::max);
  }

  std::unique_ptr<Communicator> split(int color, int key, std::string name) override {
    barrier();  // MPI would wait for a missing rank without end and without a word
    MPI_Comm part;
    group_->check(MPI_Comm_split(group_->handle, color, key, &part), "split");
    return communicator_of(part, std::move(name));
  }

 private:
  template <class Post>
  Ticket collective(const char* name, ConstValues a, ConstValues b, Post post) {
    return start(std::make_shared<Collective<Post>>(group_, name, a, b, std::move(post)));
  }

  /// Two tags for each reduction, apart from those of the few that can be under way with it; MPI promises 32767.
  int next_tag() { return 1 + static_cast<int>(2 * (reductions_++ % 16000)); }

  std::shared_ptr<Group> group_;
  index_t reductions_ = 0;
};

std::unique_ptr<Communicator> communicator_of(MPI_Comm handle, std::string name) {
  const auto group = std::make_shared<Group>(handle, name);
  if (group->size > 1) return std::make_unique<MpiCommunicator>(group);
  MPI_Comm_free(&handle);
  return self_communicator(std::move(name));
}

}  // namespace

std::unique_ptr<Communicator> world_communicator(std::string name) {
  MPI_Comm handle;
  MPI_Comm_dup(MPI_COMM_WORLD, &handle);
  return communicator_of(handle, std::move(name));
}

}  // namespace annulus::comm
