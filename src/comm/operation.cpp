#include "comm/operation.hpp"

#include "comm/byte_block.hpp"
#include "comm/polling.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace annulus::comm {

Operation::Operation(std::shared_ptr<Group> group, const char* name)
    : group_(std::move(group)), name_(name), number_(group_->operations++) {}

void Operation::begin() {
  advance();
  done_ = requests_.empty();
}

bool Operation::progress() {
  if (done_) return false;
  int all_arrived = 0;
  statuses_.resize(requests_.size());
  const int code = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all_arrived, statuses_.data());
  if (code == MPI_SUCCESS && !all_arrived) return false;
  done_ = true;  // also when one of these throws
  check_statuses(code);
  check_sizes();
  requests_.clear();
  messages_.clear();
  begin();
  return true;
}

void Operation::check_statuses(int code) const {
  if (code == MPI_SUCCESS) return;
  for (std::size_t m = 0; m < messages_.size(); ++m)
    if (const int error = statuses_[m].MPI_ERROR; code == MPI_ERR_IN_STATUS && error != MPI_ERR_PENDING)
      group_->check(error, description(), messages_[m].peer);
  group_->check(code, description());
}

void Operation::check_sizes() const {
  for (std::size_t m = 0; m < messages_.size(); ++m) {
    if (messages_[m].bytes < 0) continue;
    MPI_Count bytes = 0;
    MPI_Get_elements_x(&statuses_[m], MPI_BYTE, &bytes);
    if (bytes != messages_[m].bytes)
      throw Error(Exit::internal, text(description(), ", on rank ", group_->rank, ": rank ", messages_[m].peer,
                                       " sent ", bytes, " bytes where ", messages_[m].bytes, " were expected"));
  }
}

void Operation::wait(const Exec&) { wait_until_done(*this); }

void Operation::touches(ConstValues values) { memory_.push_back(values); }

bool Operation::touches(const void* byte) const {
  for (const ConstValues& values : memory_) {
    const auto begin = static_cast<const std::byte*>(values.data);
    if (byte >= begin && byte < begin + values.bytes()) return true;
  }
  return false;
}

std::string Operation::description() const {
  std::string waiting;
  for (std::size_t m = 0; m < requests_.size(); ++m) {
    int arrived = 1;
    if (requests_[m] != MPI_REQUEST_NULL) MPI_Request_get_status(requests_[m], &arrived, MPI_STATUS_IGNORE);
    if (arrived) continue;
    waiting += waiting.empty() ? ", waiting for " : ", ";
    waiting += messages_[m].peer < 0
                   ? std::string("all ranks")
                   : text("rank ", messages_[m].peer, messages_[m].bytes < 0 ? " to receive" : " to send");
  }
  return text(name_, ", operation ", number_, " of \"", group_->name, "\"", waiting);
}

void Operation::send(const void* data, index_t bytes, int to, int tag) {
  const ByteBlock block(bytes);
  MPI_Request request;
  group_->check(MPI_Isend(data, block.count, block.type, to, tag, group_->handle, &request), name_, to);
  requests_.push_back(request);
  messages_.push_back({to, -1});
}

void Operation::receive(void* data, index_t bytes, int from, int tag) {
  const ByteBlock block(bytes);
  MPI_Request request;
  group_->check(MPI_Irecv(data, block.count, block.type, from, tag, group_->handle, &request), name_, from);
  requests_.push_back(request);
  messages_.push_back({from, bytes});
}

void Operation::collective(int code, MPI_Request request) {
  group_->check(code, name_);
  requests_.push_back(request);
  messages_.push_back({-1, -1});
}

}  // namespace annulus::comm
