/// The program as a user starts it.
#pragma once
#include <string>

#include "support/command.hpp"
#include "support/places.hpp"

namespace annulus::test {

inline const std::string annulus_path = program_path("annulus");

inline Outcome program(const std::string& arguments) { return run(annulus_path + " " + arguments); }

inline std::string deck(const std::string& name) { return source_path("inputs/" + name + ".toml"); }

}  // namespace annulus::test
