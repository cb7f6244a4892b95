#include "support/rank_agreement.hpp"

#include <algorithm>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <iostream>

#include "support/ranks.hpp"

namespace annulus::test {

namespace {

int failures = 0;

/// After each case all ranks learn how it went on each; one failure, or a skip that not all ranks share, is everyone's.
class RankAgreement : public Catch::EventListenerBase {
 public:
  using EventListenerBase::EventListenerBase;

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (crashed_) return;  // in a signal handler; mpiexec ends the others
    const auto& cases = stats.totals.testCases;
    const Verdict mine = cases.failed ? Verdict::failed : cases.skipped ? Verdict::skipped : Verdict::passed;
    const std::string name = stats.testInfo->name;
    const auto all = verdicts_of_all(mine, name);
    const bool alike = std::all_of(all.begin(), all.end(), [&](Verdict v) { return v == all[0]; });
    if (alike && mine != Verdict::failed) return;
    ++failures;
    if (alike || rank() != 0) return;
    std::cout << "\"" << name << "\"";
    for (int r = 0; r < ranks(); ++r)
      if (all[r] != Verdict::passed)
        std::cout << (all[r] == Verdict::failed ? " failed" : " skipped") << " on rank " << r;
    std::cout << ", not on all\n" << std::flush;
  }

  void fatalErrorEncountered(Catch::StringRef error) override {
    crashed_ = true;
    std::cerr << "[rank " << rank() << "] " << error << '\n';
  }

 private:
  bool crashed_ = false;
};
CATCH_REGISTER_LISTENER(RankAgreement)

}  // namespace

int failed_cases() { return failures; }

}  // namespace annulus::test
