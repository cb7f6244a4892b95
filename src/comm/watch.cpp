#include "comm/watch.hpp"

#include <chrono>

namespace annulus::comm {

Watch::Watch(std::function<void()> look)
    : thread_([this, look = std::move(look)](const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        while (!ended_.wait_for(lock, stop, std::chrono::milliseconds(200), [&] { return stop.stop_requested(); }))
          look();
      }) {}

}  // namespace annulus::comm
