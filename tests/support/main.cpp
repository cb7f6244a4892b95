/// Runs a program's tests on every rank alike: one fixed seed, one outcome.
#include <catch2/catch_session.hpp>
#include <iostream>

#include "comm/threads.hpp"
#include "core/kokkos_session.hpp"
#include "support/rank_agreement.hpp"
#include "support/ranks.hpp"

int main(int argc, char** argv) {
  using namespace annulus::test;

  Catch::Session session;
  Catch::ConfigData& config = session.configData();
  config.rngSeed = 20231001;
  if (const int wrong = session.applyCommandLine(argc, argv)) return wrong;

  // Tests can be listed where neither a launcher nor a driver is.
  if (config.showHelp || config.listTests || config.listTags || config.listReporters || config.listListeners)
    return session.run();

  if (const std::string missing = annulus::KokkosSession::missing_device(); !missing.empty()) {
    std::cout << "skipped, all of it: " << missing << '\n';
    return 4;  // as where each case is skipped
  }
  const MpiRun mpi;
  const annulus::KokkosSession kokkos(annulus::comm::threads_to_start(), rank());
  if (rank() != 0) config.reporterSpecifications = {Catch::ReporterSpec("rank", {}, {}, {})};
  const int outcome = session.run();
  if (rank() == 0 && failed_cases() > 0)
    std::cout << failed_cases() << " test case(s) failed on some of " << ranks() << " rank(s)\n";
  return failed_cases() > 0 ? 1 : outcome;
}
