/// The program `annulus`, callable with seams of a test.
#pragma once
#include "app/seams.hpp"

namespace annulus::app {

/// Runs the command that the arguments name; returns the exit code that all ranks share.
int annulus_main(int argc, char** argv, const Seams& seams);

}  // namespace annulus::app
