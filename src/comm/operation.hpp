/// A communication under way: messages in flight, and what follows when they have arrived.
#pragma once
#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/group.hpp"

namespace annulus::comm {

class Operation : public Ticket::Pending {
 public:
  /// `name` is the Communicator's function.
  Operation(std::shared_ptr<Group> group, const char* name);

  /// Posts the first messages.
  void begin();
  /// Whether nothing is left to do.
  bool done() const { return done_; }
  /// Moves on if all messages in flight have arrived; whether it did.
  bool progress();
  /// Blocks until done: on hosts, what an execution space is given from now on is given after that.
  void wait(const Exec& exec) override;

  /// Declares memory that it reads or writes.
  void touches(ConstValues values);
  bool touches(const void* byte) const;

  const Group& group() const { return *group_; }
  /// "send_recv, operation 12 of \"ring\", waiting for rank 1": for the watchdog.
  std::string description() const;

 protected:
  /// Posts the next messages. Called again when they have arrived; without new ones the operation is done.
  virtual void advance() = 0;

  void send(const void* data, index_t bytes, int to, int tag);
  void receive(void* data, index_t bytes, int from, int tag);
  /// For a collective of MPI's own: keeps the request that it returned with `code`.
  void collective(int code, MPI_Request request);

 private:
  struct Message {
    int peer;       ///< -1: all
    index_t bytes;  ///< to receive; -1: not a receive
  };
  void check_statuses(int code) const;
  void check_sizes() const;

  std::shared_ptr<Group> group_;
  const char* name_;
  index_t number_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<Message> messages_;
  std::vector<ConstValues> memory_;
  bool done_ = false;
};

}  // namespace annulus::comm
