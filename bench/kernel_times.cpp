/// Prints the time of each GPU kernel of a run's steps when it ends, and the sums of classes: a Kokkos Tools library
/// (KOKKOS_TOOLS_LIBS) that hears of kernels from CUPTI. Kernels of Kokkos go by their labels, those of libraries by
/// their symbols. A kernel counts for the step that issued it, whenever it ran.
///   ANNULUS_KERNEL_TIMES_SKIP  steps that do not count, at the beginning (default 2)
#include <cupti.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

constexpr auto of_step = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
constexpr auto of_label = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1;

struct Kernel {
  std::string symbol;
  std::uint64_t nanoseconds;
};

std::mutex mutex;                                   // of the records, which come from a thread of CUPTI's
std::unordered_map<std::uint32_t, Kernel> kernels;  // by correlation id
std::unordered_map<std::uint32_t, std::uint64_t> step_of, label_number;  // likewise
std::vector<std::string> labels{""};
std::map<std::string, std::uint64_t> numbers;  // of labels
std::uint64_t steps = 0;
std::vector<bool> regions;  // open ones: whether it is a step

void check(CUptiResult code, const char* call) {
  if (code == CUPTI_SUCCESS) return;
  const char* reason = nullptr;
  cuptiGetResultString(code, &reason);
  std::fprintf(stderr, "kernel_times: %s: %s\n", call, reason ? reason : "unknown error");
  std::abort();
}

constexpr std::size_t buffer_bytes = std::size_t(8) << 20;

void CUPTIAPI buffer_wanted(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes));
  *size = *buffer ? buffer_bytes : 0;
  *most_records = 0;
}

void CUPTIAPI buffer_filled(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t filled) {
  const std::lock_guard lock(mutex);
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, filled, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel10*>(record);
      kernels[kernel.correlationId] = {kernel.name, kernel.end - kernel.start};
    } else if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
      const auto& link = *reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
      (link.externalKind == of_step ? step_of : label_number)[link.correlationId] = link.externalId;
    }
  }
  std::free(buffer);
}

void begin_kernel(const char* label) {
  const auto [found, fresh] = numbers.try_emplace(label, labels.size());
  if (fresh) labels.emplace_back(label);
  check(cuptiActivityPushExternalCorrelationId(of_label, found->second), "cuptiActivityPushExternalCorrelationId");
}
void end_kernel() { cuptiActivityPopExternalCorrelationId(of_label, nullptr); }

std::string demangled(const std::string& symbol) {
  int status = 0;
  char* const text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = text ? text : symbol;
  std::free(text);
  return name.substr(0, 100);
}

bool has(const std::string& name, const char* part) { return name.find(part) != name.npos; }

const char* class_of(const std::string& name, bool of_library) {
  if (has(name, "attention")) return "attention";
  if (has(name, "nccl")) return "messages";
  if (of_library) return "gemm";
  if (has(name, "adamw") || has(name, "squared_norm") || has(name, "update")) return "optimizer";
  return "norm/elementwise";
}

struct ToolSettings {  // as Kokkos Tools defines it
  bool requires_global_fencing;
  bool padding[255];
};

}  // namespace

extern "C" void kokkosp_init_library(int, std::uint64_t, std::uint32_t, void*) {
  check(cuptiActivityRegisterCallbacks(buffer_wanted, buffer_filled), "cuptiActivityRegisterCallbacks");
  // external correlations are told only with the calls that they belong to
  for (const auto kind : {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER,
                          CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL})
    check(cuptiActivityEnable(kind), "cuptiActivityEnable");
}
/// Else Kokkos fences before and after all that it tells.
extern "C" void kokkosp_request_tool_settings(std::uint32_t, ToolSettings* settings) {
  settings->requires_global_fencing = false;
}
extern "C" void kokkosp_push_profile_region(const char* name) {
  regions.push_back(std::strcmp(name, "annulus::train::step") == 0);
  if (regions.back())
    check(cuptiActivityPushExternalCorrelationId(of_step, ++steps), "cuptiActivityPushExternalCorrelationId");
}
extern "C" void kokkosp_pop_profile_region() {
  if (regions.empty()) return;
  if (regions.back()) cuptiActivityPopExternalCorrelationId(of_step, nullptr);
  regions.pop_back();
}
extern "C" void kokkosp_begin_parallel_for(const char* label, std::uint32_t, std::uint64_t*) { begin_kernel(label); }
extern "C" void kokkosp_begin_parallel_reduce(const char* label, std::uint32_t, std::uint64_t*) { begin_kernel(label); }
extern "C" void kokkosp_begin_parallel_scan(const char* label, std::uint32_t, std::uint64_t*) { begin_kernel(label); }
extern "C" void kokkosp_end_parallel_for(std::uint64_t) { end_kernel(); }
extern "C" void kokkosp_end_parallel_reduce(std::uint64_t) { end_kernel(); }
extern "C" void kokkosp_end_parallel_scan(std::uint64_t) { end_kernel(); }

extern "C" void kokkosp_finalize_library() {
  check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
  const std::lock_guard lock(mutex);
  const char* const skip_text = std::getenv("ANNULUS_KERNEL_TIMES_SKIP");
  const std::uint64_t skip = skip_text ? std::strtoull(skip_text, nullptr, 10) : 2;
  if (steps <= skip) {
    std::fprintf(stderr, "kernel_times: the run had %llu steps, and %llu do not count\n",
                 static_cast<unsigned long long>(steps), static_cast<unsigned long long>(skip));
    return;
  }
  struct Sum {
    double milliseconds = 0, calls = 0;
  };
  std::map<std::pair<std::string, std::string>, Sum> by_kernel;  // class and name
  std::map<std::string, double> by_class;
  double all = 0;
  const double counted = static_cast<double>(steps - skip);
  for (const auto& [correlation, kernel] : kernels) {
    const auto step = step_of.find(correlation);
    if (step == step_of.end() || step->second <= skip) continue;
    const auto label = label_number.find(correlation);
    const bool of_library = label == label_number.end();
    const std::string name = of_library ? demangled(kernel.symbol) : labels[label->second];
    const char* const kind = class_of(name, of_library);
    const double milliseconds = 1e-6 * static_cast<double>(kernel.nanoseconds) / counted;
    Sum& sum = by_kernel[{kind, name}];
    sum.milliseconds += milliseconds;
    sum.calls += 1 / counted;
    by_class[kind] += milliseconds;
    all += milliseconds;
  }
  std::vector<std::pair<std::pair<std::string, std::string>, Sum>> rows(by_kernel.begin(), by_kernel.end());
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.second.milliseconds > b.second.milliseconds; });
  std::printf("%9s %7s  %-17s kernel, a step of %.0f\n", "ms", "calls", "class", counted);
  for (const auto& [key, sum] : rows)
    std::printf("%9.3f %7.1f  %-17s %s\n", sum.milliseconds, sum.calls, key.first.c_str(), key.second.c_str());
  std::printf("\n");
  for (const auto& [kind, milliseconds] : by_class) std::printf("%9.3f ms  %s\n", milliseconds, kind.c_str());
  std::printf("%9.3f ms  all but attention\n%9.3f ms  all\n", all - by_class["attention"], all);
}
