/// Programs as a user starts them: what they print and the code they end with.
#pragma once
#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace annulus::test {

struct Outcome {
  int code;            ///< of a process that a signal ended: 128 + signal, as shells have it
  std::string output;  ///< stdout and stderr together
};

inline Outcome run(const std::string& command) {
  Outcome outcome{};
  FILE* const pipe = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  if (!pipe) return {127, "popen failed"};
  char buffer[4096];
  for (std::size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) outcome.output.append(buffer, got);
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

}  // namespace annulus::test
