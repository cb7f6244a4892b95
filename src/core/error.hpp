/// What ends a run, and the exit code it ends with. Errors are the user's to mend: thrown where they are found, printed
/// once by main. Our own mistakes are asserts.
#pragma once
#include <stdexcept>
#include <string>

namespace annulus {

/// The exit codes of every command.
enum class Exit {
  done = 0,
  refused = 2,     ///< deck, input or launcher refused: nothing was changed
  checkpoint = 3,  ///< no checkpoint that could be used
  failed = 4,      ///< verify, doctor or a gate said no
  internal = 70,   ///< a mistake of ours, or the communication broke
  stopped = 85,    ///< stopped by a signal, the wall clock or a stop file; `annulus resume` goes on
};

/// One sentence: what was wrong, where (deck line, file, rank), and what would be right.
class Error : public std::runtime_error {
 public:
  Error(Exit code, const std::string& what) : std::runtime_error(what), code_(code) {}
  Exit code() const { return code_; }

 private:
  Exit code_;
};

/// A deck, an input or a launcher that cannot be used (exit 2).
struct Refused : Error {
  explicit Refused(const std::string& what) : Error(Exit::refused, what) {}
};

/// A checkpoint that cannot be used (exit 3).
struct BadCheckpoint : Error {
  explicit BadCheckpoint(const std::string& what) : Error(Exit::checkpoint, what) {}
};

}  // namespace annulus
