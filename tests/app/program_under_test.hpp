/// The program as a user starts it.
#pragma once
#include <string>

#include "support/command.hpp"

namespace annulus::test {

inline Outcome program(const std::string& arguments) { return run(std::string(ANNULUS) + " " + arguments); }

inline std::string deck(const std::string& name) { return std::string(SOURCE) + "/inputs/" + name + ".toml"; }

}  // namespace annulus::test
