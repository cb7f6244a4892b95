#include "app/diagnosis.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "comm/launcher.hpp"
#include "core/text.hpp"

namespace annulus::app {

namespace {

using Verdict = Finding::Verdict;

std::string counted(int n, const std::string& what) { return text(n, " ", what, n == 1 ? "" : "s"); }

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// The setting with which OpenBLAS uses what this processor has; empty where it has no AVX2 either.
std::string fitting_coretype() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) return "SkylakeX";
  if (__builtin_cpu_supports("avx2")) return __builtin_cpu_is("amd") ? "Zen" : "Haswell";
  return "";
}

}  // namespace

Finding mpi_finding(const comm::MpiSession& mpi) {
  return {"MPI", Verdict::ok,
          text(comm::mpi_library(), "; ", counted(mpi.size(), "rank"), ", ", mpi.ranks_on_node(),
               " on this machine; started by ", comm::launcher().name),
          ""};
}

Finding threads_finding(const comm::CoreShare& share, int threads) {
  const std::string policy = environment("OMP_WAIT_POLICY"), binding = environment("OMP_PROC_BIND");
  const bool asleep = policy == "passive" || policy == "PASSIVE" || environment("GOMP_SPINCOUNT") == "0";
  const bool binds = !binding.empty() && binding != "false" && binding != "FALSE";
  Finding finding{
      "threads", Verdict::ok,
      text(counted(share.ranks, "rank"), " x ", counted(threads, "thread"), " on ", counted(share.on_node, "core"),
           ", ",
           share.bound() ? text("bound to ", counted(share.usable, "core"), " each") : "not bound by the launcher",
           asleep ? ", idle threads sleep" : ", idle threads spin"),
      ""};
  if (binds && share.ranks > 1 && !share.bound()) {
    finding.verdict = Verdict::wrong;
    finding.advice =
        text("OMP_PROC_BIND=", binding, " puts every rank on the same first cores: set it to false, or let the ",
             "launcher bind (mpiexec -bind-to core:", threads, ")");
  } else if (threads > share.threads()) {
    finding.verdict = Verdict::wrong;
    finding.advice = text("threads wait for cores: unset OMP_NUM_THREADS, or set it to ", share.threads());
  } else if (share.ranks > share.on_node) {
    finding.verdict = Verdict::slow;
    finding.advice = "more ranks than cores: fine for tests, slow for training";
  } else if (!asleep && share.ranks > 1) {
    finding.verdict = Verdict::slow;
    finding.advice =
        "idle threads keep cores from other ranks: set OMP_WAIT_POLICY=passive, or unset it and GOMP_SPINCOUNT";
  }
  return finding;
}

Finding products_finding(const std::string& products) {
  Finding finding{"products", Verdict::ok, products, ""};
  for (const char* generic :
       {"Prescott", "Katmai", "Coppermine", "Northwood", "Core2", "Nehalem", "Generic", "GENERIC"})
    if (products.find("OpenBLAS") != std::string::npos && products.find(generic) != std::string::npos &&
        !fitting_coretype().empty()) {
      finding.verdict = Verdict::slow;
      finding.advice = text("OpenBLAS does not know this processor and uses kernels for an old one (", generic,
                            "): set OPENBLAS_CORETYPE=", fitting_coretype());
    }
  return finding;
}

Finding locking_finding(const std::string& directory) {
  Finding finding{"file locks", Verdict::ok, "", ""};
  const std::string path = text(directory, "/.annulus-doctor-", getpid());
  const auto failed = [&](const std::string& what, const std::string& advice) {
    finding.verdict = Verdict::wrong;
    finding.what = text(what, " in ", directory, ": ", std::strerror(errno));
    finding.advice = advice;
  };
  const int writer = open(path.c_str(), O_CREAT | O_RDWR | O_EXCL, 0600);
  if (writer < 0) {
    failed("a file cannot be made", "run from a directory that you may write to, or name one with --directory");
    return finding;
  }
  const int reader = open(path.c_str(), O_RDONLY);
  // HDF5 takes flock()s: the writer one of its own, a reader a shared one.
  if (flock(writer, LOCK_EX | LOCK_NB) != 0)
    failed("files cannot be locked", "set HDF5_USE_FILE_LOCKING=FALSE for every program that opens a checkpoint");
  else if (flock(reader, LOCK_SH | LOCK_NB) == 0)
    failed("a lock keeps nobody out", "do not open a checkpoint while it is written");
  else
    finding.what = text("work in ", directory);
  close(reader);
  close(writer);
  unlink(path.c_str());
  return finding;
}

}  // namespace annulus::app
