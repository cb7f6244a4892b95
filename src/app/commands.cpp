/// The commands of the program, in the order of `annulus --help`. Each is declared and listed here, and defined in a
/// file of its name.
#include "app/command.hpp"

namespace annulus::app {

std::unique_ptr<Command> train_command();
std::unique_ptr<Command> resume_command();
std::unique_ptr<Command> eval_command();
std::unique_ptr<Command> generate_command();
std::unique_ptr<Command> verify_command();
std::unique_ptr<Command> gradients_command();
std::unique_ptr<Command> check_command();
std::unique_ptr<Command> plan_command();
std::unique_ptr<Command> tokenize_command();
std::unique_ptr<Command> inspect_command();
std::unique_ptr<Command> status_command();
std::unique_ptr<Command> deck_reference_command();
std::unique_ptr<Command> doctor_command();
std::unique_ptr<Command> bench_command();

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(train_command());
  commands.push_back(resume_command());
  commands.push_back(eval_command());
  commands.push_back(generate_command());
  commands.push_back(verify_command());
  commands.push_back(gradients_command());
  commands.push_back(check_command());
  commands.push_back(plan_command());
  commands.push_back(tokenize_command());
  commands.push_back(inspect_command());
  commands.push_back(status_command());
  commands.push_back(deck_reference_command());
  commands.push_back(doctor_command());
  commands.push_back(bench_command());
  return commands;
}

}  // namespace annulus::app
