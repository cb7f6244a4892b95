#include "app/program.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "app/command.hpp"
#include "app/version.hpp"
#include "comm/threads.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

namespace annulus::app {

namespace {

/// The rank that the launcher gave this process, before any MPI has started; 0 without a launcher.
int launched_rank() {
  for (const char* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(name)) return std::atoi(rank);
  return 0;
}

int code_of(Exit exit) { return static_cast<int>(exit); }

/// What is the same on all ranks is said by the first one.
int refused(Exit exit, const std::string& sentence) {
  if (launched_rank() == 0) log::error(sentence);
  return code_of(exit);
}

std::string no_such_command(const std::string& word, const std::vector<std::unique_ptr<Command>>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const auto& command : commands) names.emplace_back(command->name());
  const std::string meant = nearest(word, names);
  return text("there is no command \"", word, "\"", meant.empty() ? "" : "; did you mean \"" + meant + "\"?",
              meant.empty() ? "; see annulus --help" : "");
}

}  // namespace

int annulus_main(int argc, char** argv, const Seams& seams) {
  comm::settle_openmp_environment(argv);
  log::set_rank(launched_rank());

  // 1. The commands, and the one that the command line names
  CLI::App cli("Annulus trains long-context language models on many ranks.", "annulus");
  cli.set_version_flag("--version", version_text());
  cli.require_subcommand(1);
  cli.footer(
      "Each command has its own --help.\n"
      "Exit codes: 0 done; 2 deck, input or launcher refused; 3 checkpoint refused; 4 verify, doctor or a gate "
      "failed;\n"
      "70 internal or communication failure; 85 stopped, `annulus resume` goes on.");
  const auto commands = all_commands();
  Command* chosen = nullptr;
  for (const auto& command : commands) {
    CLI::App* const sub = cli.add_subcommand(command->name(), command->summary());
    Options options(*sub);
    command->declare(options);
    sub->callback([&chosen, &command] { chosen = command.get(); });
  }
  try {
    cli.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    if (launched_rank() == 0) cli.exit(asked);
    return code_of(Exit::done);
  } catch (const CLI::ParseError& error) {
    const bool named = argc > 1 && argv[1][0] != '-';
    if (named &&
        std::none_of(commands.begin(), commands.end(), [&](auto& c) { return c->name() == std::string(argv[1]); }))
      return refused(Exit::refused, no_such_command(argv[1], commands));
    const auto parsed = cli.get_subcommands();
    return refused(Exit::refused, std::string(error.what()) + "; see annulus " +
                                      (parsed.empty() ? "" : parsed[0]->get_name() + " ") + "--help");
  }

  // 2. Run it; what it throws is said once
  try {
    return code_of(chosen->run(seams));
  } catch (const Error& error) {
    return refused(error.code(), error.what());
  } catch (const std::exception& error) {
    return refused(Exit::internal, std::string("unexpected: ") + error.what());
  }
}

}  // namespace annulus::app
