/// Where tests find what they start and read. Nothing of it lies in the test programs alone, so that a build can be
/// moved to another machine (scripts/bundle).
#pragma once
#include <string>

namespace annulus::test {

/// The path of another program of the same build: it lies beside the running one.
std::string program_path(const std::string& name);

/// The start of a command on `ranks` ranks: the launcher in the environment variable ANNULUS_MPIEXEC, else the one of
/// the MPI that the build uses.
std::string on_ranks(int ranks);

/// A file of the sources, relative to their root: the folder in the environment variable ANNULUS_SOURCE, else the one
/// that was built.
std::string source_path(const std::string& relative);

}  // namespace annulus::test
