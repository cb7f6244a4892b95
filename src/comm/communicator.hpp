/// Messages between the ranks of one group. One host thread issues everything, in one program order that is the same on
/// all ranks; nothing here blocks it except `Ticket::wait` on host memory and the functions that say so.
///
/// Both directions of dependency are explicit: an operation starts once the work that `after` was given before the call
/// is done; a ticket makes an execution space wait for the operation; `release` makes it wait for whatever still reads
/// or writes a buffer, before that buffer is used again. On a GPU these are events, on hosts a polling wait.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/exec.hpp"
#include "core/types.hpp"

namespace annulus::comm {

/// An operation under way. Destroying a ticket does not cancel or wait for it; `release` still covers its buffers.
class Ticket {
 public:
  struct Pending {
    virtual ~Pending() = default;
    virtual void wait(const Exec& exec) = 0;
  };
  Ticket() = default;
  explicit Ticket(std::shared_ptr<Pending> pending) : pending_(std::move(pending)) {}
  /// What `exec` is given from now on runs after the operation. Waiting twice, or for nothing, is allowed.
  void wait(const Exec& exec) {
    if (pending_) pending_->wait(exec);
  }

 private:
  std::shared_ptr<Pending> pending_;
};

/// Contiguous elements of one type, in the memory that the communicator serves.
struct Values {
  void* data;
  index_t count;
  Scalar type;
  index_t bytes() const { return count * size_of(type); }
};
struct ConstValues {
  const void* data;
  index_t count;
  Scalar type;
  ConstValues(const void* data, index_t count, Scalar type) : data(data), count(count), type(type) {}
  ConstValues(const Values& v) : data(v.data), count(v.count), type(v.type) {}
  index_t bytes() const { return count * size_of(type); }
};

enum class Reduction { sum, max };

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// "world", "ring", "reduce" ...: for messages.
  virtual const std::string& name() const = 0;
  /// "self", "mpi", "nccl".
  virtual const char* transport() const = 0;

  /// Sends to rank `to` and receives from rank `from`, as one grouped operation; counts may be 0 and may differ.
  virtual Ticket send_recv(const Exec& after, ConstValues send, int to, Values receive, int from) = 0;
  /// In place. The result has the same bits on every rank, and the same bits whenever the group has the same size.
  virtual Ticket all_reduce(const Exec& after, Values values, Reduction reduction) = 0;
  /// Rank r gets the sum over ranks of part r of `parts` (size() x own.count elements). `own` may be its place in
  /// parts.
  virtual Ticket reduce_scatter(const Exec& after, ConstValues parts, Values own) = 0;
  /// `all` (size() x own.count elements) gets every rank's part in rank order. `own` may be its place in all.
  virtual Ticket all_gather(const Exec& after, ConstValues own, Values all) = 0;
  /// Part r of `send` goes to rank r; part r of `receive` comes from rank r. Equal parts.
  virtual Ticket all_to_all(const Exec& after, ConstValues send, Values receive) = 0;
  virtual Ticket broadcast(const Exec& after, Values values, int root) = 0;

  /// What `exec` is given from now on runs after every operation issued so far on this communicator that reads or
  /// writes the byte at `buffer`.
  virtual void release(const void* buffer, const Exec& exec) = 0;
  /// Blocking all_reduce of a few values in host memory, whatever memory the communicator serves, and before Kokkos
  /// runs.
  virtual void agree(Values values, Reduction reduction) = 0;
  /// Blocks until all ranks are here.
  virtual void barrier() = 0;
  /// Collective: the ranks with the same color form a group, ordered by key.
  virtual std::unique_ptr<Communicator> split(int color, int key, std::string name) = 0;
};

}  // namespace annulus::comm
