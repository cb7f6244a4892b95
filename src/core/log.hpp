/// What a command says. Results (a training run's lines, tables, JSON) go to stdout through `say`; everything else goes
/// to stderr, so that captured output is never mixed with it. Rank 0 speaks; warnings of other ranks carry their
/// number. Hides spdlog and fmt, which nvcc cannot compile.
#pragma once
#include <string>

namespace annulus::log {

/// From now on messages know which rank they come from; rank 0 until then.
void set_rank(int rank);
/// One line on stdout, from rank 0 only, flushed.
void say(const std::string& line);
/// "note: ..." on stderr, from rank 0 only.
void note(const std::string& line);
/// "warning: ..." on stderr, from any rank.
void warn(const std::string& line);
/// "error: ..." on stderr, from any rank.
void error(const std::string& line);

}  // namespace annulus::log
