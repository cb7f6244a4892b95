#include "core/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>

namespace annulus::log {

namespace {

int this_rank = 0;

/// stderr, one line a message: "[rank 3] warning: ...".
spdlog::logger& diagnostics() {
  static const auto logger = [] {
    auto made = std::make_shared<spdlog::logger>("annulus", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *logger;
}

std::string from_rank() { return this_rank == 0 ? "" : fmt::format("[rank {}] ", this_rank); }

}  // namespace

void set_rank(int rank) { this_rank = rank; }

void say(const std::string& line) {
  if (this_rank != 0) return;
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

void note(const std::string& line) {
  if (this_rank == 0) diagnostics().info("note: {}", line);
}

void warn(const std::string& line) { diagnostics().warn("{}warning: {}", from_rank(), line); }

void error(const std::string& line) { diagnostics().error("{}error: {}", from_rank(), line); }

}  // namespace annulus::log
