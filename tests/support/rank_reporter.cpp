/// The reporter of all ranks but the first: only what failed, and where.
#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <catch2/reporters/catch_reporter_streaming_base.hpp>
#include <sstream>

#include "support/ranks.hpp"

namespace annulus::test {

namespace {

class RankReporter : public Catch::StreamingReporterBase {
 public:
  using StreamingReporterBase::StreamingReporterBase;
  static std::string getDescription() { return "what failed, after the number of the rank"; }

  void assertionEnded(const Catch::AssertionStats& stats) override {
    const Catch::AssertionResult& result = stats.assertionResult;
    if (result.isOk() || result.getResultType() == Catch::ResultWas::ExplicitSkip) return;
    std::ostringstream lines;  // in one piece, so that ranks do not mix theirs
    const auto& at = result.getSourceInfo();
    lines << "[rank " << rank() << "] " << at.file << ":" << at.line << ": FAILED in \"" << currentTestCaseInfo->name
          << "\"";
    for (std::size_t s = 1; s < m_sectionStack.size(); ++s) lines << ", " << m_sectionStack[s].name;
    lines << "\n";
    if (result.hasExpression()) lines << "  " << result.getExpressionInMacro() << "\n";
    if (result.hasExpandedExpression()) lines << "  is " << result.getExpandedExpression() << "\n";
    if (result.hasMessage()) lines << "  " << result.getMessage() << "\n";
    for (const auto& info : stats.infoMessages)
      if (info.message != result.getMessage()) lines << "  " << info.message << "\n";
    m_stream << lines.str() << std::flush;
  }
};
CATCH_REGISTER_REPORTER("rank", RankReporter)

}  // namespace

}  // namespace annulus::test
