#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <vector>

#include "app/program_under_test.hpp"

using namespace annulus::test;

TEST_CASE("program: asks for a command, and names its own", "[app]") {
  CHECK(program("").code == 2);
  CHECK(program("--help").code == 0);
  CHECK(program("--version").code == 0);
  CHECK(program("--version").output.find("annulus 0.") == 0);
}

TEST_CASE("program: each command's help has an example", "[app]") {
  const char* command = GENERATE("check", "plan", "tokenize", "inspect", "status", "doctor", "deck-reference");
  const Outcome help = program(command + std::string(" --help"));
  CHECK(help.code == 0);
  CHECK(help.output.find("Example:\n  annulus " + std::string(command)) != std::string::npos);
  CHECK(program("--help").output.find(command) != std::string::npos);
}

TEST_CASE("program: a wrong command line is refused in one line", "[app]") {
  const char* arguments = GENERATE("chekc", "check", "check a.toml --nonsense", "plan", "inspect", "status",
                                   "tokenize a.txt", "check a.toml b.toml", "check a.toml --set");
  const Outcome outcome = program(arguments);
  CAPTURE(arguments);
  CHECK(outcome.code == 2);
  CHECK(outcome.output.starts_with("error: "));
  CHECK(std::count(outcome.output.begin(), outcome.output.end(), '\n') == 1);
}

TEST_CASE("program: many ranks say what is wrong once", "[app]") {
  const Outcome outcome =
      run("PMI_RANK=1 " + annulus_path + " check no.toml; PMI_RANK=0 " + annulus_path + " check no.toml");
  CHECK(outcome.code == 2);
  CHECK(std::count(outcome.output.begin(), outcome.output.end(), '\n') == 1);
}
