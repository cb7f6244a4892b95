/// A Kokkos Tools library (KOKKOS_TOOLS_LIBS): adds up what a program allocates through Kokkos, by label, and when
/// Kokkos ends writes "bytes label" lines to $ANNULUS_ALLOCATIONS.<process id>.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace {

struct SpaceHandle {  // as Kokkos Tools defines it
  char name[64];
};

std::map<std::string, std::uint64_t>& bytes_by_label() {
  static std::map<std::string, std::uint64_t> bytes;
  return bytes;
}

}  // namespace

extern "C" void kokkosp_allocate_data(SpaceHandle, const char* label, const void*, std::uint64_t bytes) {
  bytes_by_label()[label] += bytes;
}

extern "C" void kokkosp_finalize_library() {
  const char* name = std::getenv("ANNULUS_ALLOCATIONS");
  if (!name) return;
  if (std::FILE* file = std::fopen((name + ("." + std::to_string(getpid()))).c_str(), "w")) {
    for (const auto& [label, bytes] : bytes_by_label())
      std::fprintf(file, "%llu %s\n", static_cast<unsigned long long>(bytes), label.c_str());
    std::fclose(file);
  }
}
