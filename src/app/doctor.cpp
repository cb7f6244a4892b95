/// `annulus doctor`: whether this machine and this launch are fit for training, with what to do where they are not.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/command.hpp"
#include "app/diagnosis.hpp"
#include "app/rates.hpp"
#include "comm/mpi_communicator.hpp"
#include "core/kokkos_session.hpp"
#include "core/log.hpp"
#include "ops/gemm_description.hpp"

namespace annulus::app {

namespace {

using Verdict = Finding::Verdict;

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "OK";
    case Verdict::slow:
      return "SLOW";
    default:
      return "WRONG";
  }
}

class Doctor : public Command {
 public:
  const char* name() const override { return "doctor"; }
  const char* summary() const override {
    return "say whether this machine and launch are fit, and what to do where not";
  }
  void declare(Options& options) override {
    options.flag("--json", json_, "print JSON instead of lines");
    options.add("--directory", directory_, "where runs are going to write; its file locks are tried").with_default();
    options.footer(
        "Example:\n"
        "  annulus doctor --directory runs\n"
        "  mpiexec -n 2 annulus doctor        as the run is going to be started\n"
        "Exit code: 0, or 4 when something is WRONG. What is SLOW works.");
  }

  Exit run(const Seams&) override {
    comm::MpiSession mpi;
    Exit mine = Exit::internal;
    try {
      mine = examined(mpi);
    } catch (const std::exception& error) {
      log::error(error.what());
    }
    return mpi.agreed_exit(mine);
  }

 private:
  Exit examined(const comm::MpiSession& mpi) const {
    const comm::CoreShare share = comm::core_share();
    const int threads = comm::threads_to_start();
    std::vector<Finding> findings = {mpi_finding(mpi), threads_finding(share, threads),
                                     products_finding(ops::gemm_description()), locking_finding(directory_)};
    nlohmann::json rates;
    if (const std::string missing = KokkosSession::missing_device(); !missing.empty()) {
      findings.push_back({"Kokkos", Verdict::wrong, missing,
                          "run on a machine with a GPU and its driver; plan, check and the "
                          "like work here"});
    } else {
      const KokkosSession kokkos(threads, mpi.rank_on_node());
      findings.push_back({"Kokkos", Verdict::ok, KokkosSession::description(), ""});
      const Rates measured = measured_rates(*comm::world_communicator());
      for (const Finding& finding : rate_findings(measured, mpi.size())) findings.push_back(finding);
      rates = {{"copy_gb_s", measured.copy_gb_s}, {"gemm_gflop_s", measured.gemm_gflop_s}};
      if (mpi.size() > 1) rates.update({{"ring_gb_s", measured.ring_gb_s}, {"ring_us", measured.ring_us}});
    }
    json_ ? say_json(findings, rates) : say_lines(findings);
    const auto wrong = [](const Finding& finding) { return finding.verdict == Verdict::wrong; };
    return std::any_of(findings.begin(), findings.end(), wrong) ? Exit::failed : Exit::done;
  }

  static std::vector<Finding> rate_findings(const Rates& rates, int ranks) {
    const std::string each = ranks > 1 ? " a rank, all at once" : "";
    std::vector<Finding> findings = {
        {"copy", Verdict::ok, fmt::format("{:.1f} GB/s read and written{}", rates.copy_gb_s, each), ""},
        {"gemm", Verdict::ok, fmt::format("{:.0f} GFLOP/s in fp32{}", rates.gemm_gflop_s, each), ""}};
    if (ranks == 1) {
      findings.push_back({"ring", Verdict::ok, "one rank: nothing to pass on", ""});
      return findings;
    }
    findings.push_back(
        {"ring", Verdict::ok, fmt::format("{:.2f} GB/s{}; {:.0f} us a hop", rates.ring_gb_s, each, rates.ring_us), ""});
    if (rates.ring_us > 1000) {
      findings.back().verdict = Verdict::slow;
      findings.back().advice =
          "a hop should take well below a millisecond: other work holds the cores, or there are too few";
    }
    return findings;
  }

  static void say_lines(const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      log::say(fmt::format("{:<11} {:<6} {}", finding.subject, word(finding.verdict), finding.what));
      if (!finding.advice.empty()) log::say(fmt::format("{:<18} -> {}", "", finding.advice));
    }
  }

  static void say_json(const std::vector<Finding>& findings, const nlohmann::json& rates) {
    nlohmann::json lines = nlohmann::json::array();
    for (const Finding& finding : findings)
      lines.push_back({{"subject", finding.subject},
                       {"verdict", word(finding.verdict)},
                       {"what", finding.what},
                       {"advice", finding.advice}});
    log::say(nlohmann::json{{"findings", lines}, {"rates", rates}}.dump(2));
  }

  bool json_ = false;
  std::string directory_ = ".";
};

}  // namespace

std::unique_ptr<Command> doctor_command() { return std::make_unique<Doctor>(); }

}  // namespace annulus::app
