#include "train/stop.hpp"

#include <csignal>
#include <fstream>

#include "comm/mesh.hpp"

namespace annulus::train {

namespace {

volatile std::sig_atomic_t signalled = 0;

void remember(int signal) { signalled = signal; }

/// In ascending order of urgency: all ranks agree on the largest.
enum Reason : index_t { none, wall_clock, stop_file, signal_usr1, signal_term };
constexpr const char* reasons[] = {"", "wall clock", "stop file", "SIGUSR1", "SIGTERM"};

}  // namespace

StopRequests::StopRequests(std::filesystem::path stop_file, double wall_minutes)
    : stop_file_(std::move(stop_file)), wall_minutes_(wall_minutes) {
  signalled = 0;
  former_term_ = std::signal(SIGTERM, remember);
  former_usr1_ = std::signal(SIGUSR1, remember);
}

StopRequests::~StopRequests() {
  std::signal(SIGTERM, former_term_);
  std::signal(SIGUSR1, former_usr1_);
}

bool StopRequests::stop_file_says_so(index_t steps_done) const {
  std::ifstream file(stop_file_);
  if (!file) return false;
  index_t step;
  return !(file >> step) || steps_done >= step;
}

std::string StopRequests::agreed(comm::Communicator& world, index_t steps_done) const {
  const std::chrono::duration<double, std::ratio<60>> elapsed = std::chrono::steady_clock::now() - begin_;
  index_t mine = none;
  if (world.rank() == 0 && wall_minutes_ > 0 && elapsed.count() >= wall_minutes_) mine = wall_clock;
  if (world.rank() == 0 && stop_file_says_so(steps_done)) mine = stop_file;
  if (signalled == SIGUSR1) mine = signal_usr1;
  if (signalled == SIGTERM) mine = signal_term;
  return reasons[comm::agree(world, mine, comm::Reduction::max)];
}

void StopRequests::consume_stop_file() const {
  std::error_code ignored;  // a stop file that cannot be removed stops the next run too, which then says so
  std::filesystem::remove(stop_file_, ignored);
}

}  // namespace annulus::train
