/// One command of the program: `annulus <name>`. Each has a file of its own in app/ and a line in commands.cpp.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/options.hpp"
#include "app/seams.hpp"
#include "core/error.hpp"

namespace annulus::app {

class Command {
 public:
  virtual ~Command() = default;
  virtual const char* name() const = 0;
  /// One line for `annulus --help`.
  virtual const char* summary() const = 0;
  /// Adds options and positionals, with help that suffices; `options.footer()` has an example.
  virtual void declare(Options& options) = 0;
  /// Runs it. Errors are thrown; main prints them once and turns them into the exit code.
  virtual Exit run(const Seams& seams) = 0;
};

std::vector<std::unique_ptr<Command>> all_commands();

}  // namespace annulus::app
