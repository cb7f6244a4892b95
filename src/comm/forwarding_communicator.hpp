/// A communicator that passes every call on: decorators override what they change.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "comm/communicator.hpp"

namespace annulus::comm {

class ForwardingCommunicator : public Communicator {
 public:
  /// `inner` outlives this.
  explicit ForwardingCommunicator(Communicator& inner) : inner_(inner) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  const std::string& name() const override { return inner_.name(); }
  const char* transport() const override { return inner_.transport(); }
  Ticket send_recv(const Exec& after, ConstValues send, int to, Values receive, int from) override {
    return inner_.send_recv(after, send, to, receive, from);
  }
  Ticket all_reduce(const Exec& after, Values values, Reduction reduction) override {
    return inner_.all_reduce(after, values, reduction);
  }
  Ticket reduce_scatter(const Exec& after, ConstValues parts, Values own) override {
    return inner_.reduce_scatter(after, parts, own);
  }
  Ticket all_gather(const Exec& after, ConstValues own, Values all) override {
    return inner_.all_gather(after, own, all);
  }
  Ticket all_to_all(const Exec& after, ConstValues send, Values receive) override {
    return inner_.all_to_all(after, send, receive);
  }
  Ticket broadcast(const Exec& after, Values values, int root) override {
    return inner_.broadcast(after, values, root);
  }
  void release(const void* buffer, const Exec& exec) override { inner_.release(buffer, exec); }
  void agree(Values values, Reduction reduction) override { inner_.agree(values, reduction); }
  void barrier() override { inner_.barrier(); }
  std::unique_ptr<Communicator> split(int color, int key, std::string name) override {
    return inner_.split(color, key, std::move(name));
  }

 protected:
  Communicator& inner_;
};

}  // namespace annulus::comm
