/// Something that is looked at from a thread of its own while its owner may be blocked.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace annulus::comm {

class Watch {
 public:
  /// Calls `look` five times a second until this is destroyed. `look` may end the job, and must not throw.
  explicit Watch(std::function<void()> look);

 private:
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;  // last: ends first
};

}  // namespace annulus::comm
