#include "comm/staged_communicator.hpp"

#include <algorithm>
#include <vector>

#include "comm/device.hpp"
#include "comm/nccl_communicator.hpp"
#include "comm/self_communicator.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace annulus::comm {

namespace {

/// Staging buffers that no operation uses at the moment.
class SparesForStaging {
 public:
  struct Buffer {
    StagingBuffer data;
    index_t bytes = 0;
  };
  Buffer take(index_t bytes) {
    const auto fits = std::find_if(spare_.begin(), spare_.end(), [=](const Buffer& b) { return b.bytes >= bytes; });
    if (fits == spare_.end()) return {staging_buffer(std::max<index_t>(bytes, 1)), bytes};
    Buffer found = std::move(*fits);
    spare_.erase(fits);
    return found;
  }
  void give_back(Buffer buffer) { spare_.push_back(std::move(buffer)); }

 private:
  std::vector<Buffer> spare_;
};

/// A host operation, and where on the device its result belongs.
class StagedOperation : public Ticket::Pending {
 public:
  StagedOperation(SparesForStaging& spares, SparesForStaging::Buffer sent, SparesForStaging::Buffer received,
                  Values result)
      : spares_(spares), sent_(std::move(sent)), received_(std::move(received)), result_(result) {}

  void posted(Ticket ticket) { ticket_ = std::move(ticket); }
  void* received() const { return received_.data.get(); }
  const void* sent() const { return sent_.data.get(); }

  void wait(const Exec& exec) override {
    if (done_) return;
    ticket_.wait(exec);
    copy(exec, result_.data, received_.data.get(), result_.bytes());
    done_ = true;
    spares_.give_back(std::move(sent_));
    spares_.give_back(std::move(received_));
  }
  bool done() const { return done_; }
  /// What it sends has left the device already.
  bool writes(const void* byte) const {
    const auto begin = static_cast<const std::byte*>(result_.data);
    return byte >= begin && byte < begin + result_.bytes();
  }

 private:
  SparesForStaging& spares_;
  SparesForStaging::Buffer sent_, received_;
  Values result_;
  Ticket ticket_;
  bool done_ = false;
};

class StagedCommunicator : public Communicator {
 public:
  explicit StagedCommunicator(std::unique_ptr<Communicator> host) : host_(std::move(host)) {}

  int rank() const override { return host_->rank(); }
  int size() const override { return host_->size(); }
  const std::string& name() const override { return host_->name(); }
  const char* transport() const override { return host_->transport(); }

  Ticket send_recv(const Exec& after, ConstValues send, int to, Values receive, int from) override {
    return staged(after, send, receive,
                  [&](ConstValues s, Values r) { return host_->send_recv(after, s, to, r, from); });
  }
  Ticket all_reduce(const Exec& after, Values values, Reduction reduction) override {
    return in_place(after, values, [&](Values v) { return host_->all_reduce(after, v, reduction); });
  }
  Ticket reduce_scatter(const Exec& after, ConstValues parts, Values own) override {
    return staged(after, parts, own, [&](ConstValues s, Values r) { return host_->reduce_scatter(after, s, r); });
  }
  Ticket all_gather(const Exec& after, ConstValues own, Values all) override {
    return staged(after, own, all, [&](ConstValues s, Values r) { return host_->all_gather(after, s, r); });
  }
  Ticket all_to_all(const Exec& after, ConstValues send, Values receive) override {
    return staged(after, send, receive, [&](ConstValues s, Values r) { return host_->all_to_all(after, s, r); });
  }
  Ticket broadcast(const Exec& after, Values values, int root) override {
    return in_place(after, values, [&](Values v) { return host_->broadcast(after, v, root); });
  }

  void release(const void* buffer, const Exec& exec) override {
    for (const auto& operation : under_way_)
      if (operation->writes(buffer)) operation->wait(exec);
  }
  void agree(Values values, Reduction reduction) override { host_->agree(values, reduction); }
  void barrier() override { host_->barrier(); }
  std::unique_ptr<Communicator> split(int color, int key, std::string name) override {
    return staged_communicator(host_->split(color, key, std::move(name)));
  }

 private:
  template <class Post>
  Ticket staged(const Exec& after, ConstValues send, Values receive, const Post& post) {
    const auto operation = begun(after, send, receive);
    operation->posted(post(ConstValues(operation->sent(), send.count, send.type),
                           Values{operation->received(), receive.count, receive.type}));
    return Ticket(operation);
  }

  template <class Post>
  Ticket in_place(const Exec& after, Values values, const Post& post) {
    const auto operation = begun(after, ConstValues(values.data, 0, values.type), values);
    copy(after, operation->received(), values.data, values.bytes());
    operation->posted(post(Values{operation->received(), values.count, values.type}));
    return Ticket(operation);
  }

  std::shared_ptr<StagedOperation> begun(const Exec& after, ConstValues send, Values result) {
    std::erase_if(under_way_, [](const auto& operation) { return operation->done(); });
    auto sent = spares_.take(send.bytes());
    copy(after, sent.data.get(), send.data, send.bytes());
    auto received = spares_.take(result.bytes());
    under_way_.push_back(std::make_shared<StagedOperation>(spares_, std::move(sent), std::move(received), result));
    return under_way_.back();
  }

  SparesForStaging spares_;
  std::vector<std::shared_ptr<StagedOperation>> under_way_;
  std::unique_ptr<Communicator> host_;  // last: it waits for its messages before their buffers go
};

}  // namespace

std::unique_ptr<Communicator> on_device(std::unique_ptr<Communicator> host, Transport transport) {
  if (host->size() == 1) return host;  // copies in any memory
  if (transport == Transport::nccl)
    if (const std::string obstacle = nccl_obstacle(*host, GpuSharing::allowed); !obstacle.empty())
      throw Refused(text("mesh.transport = \"nccl\": ", obstacle));
#ifdef ANNULUS_CUDA
  const bool nccl = transport == Transport::nccl ||
                    (transport == Transport::automatic && nccl_obstacle(*host, GpuSharing::refused).empty());
  return nccl ? nccl_communicator(std::move(host)) : staged_communicator(std::move(host));
#else
  return host;
#endif
}

std::unique_ptr<Communicator> staged_communicator(std::unique_ptr<Communicator> host) {
  return std::make_unique<StagedCommunicator>(std::move(host));
}

}  // namespace annulus::comm
