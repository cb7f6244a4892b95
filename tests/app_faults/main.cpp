/// The program `annulus` with the fault that the environment variable ANNULUS_FAULT names.
#include <cstdlib>

#include "app/program.hpp"
#include "app_faults/faults.hpp"
#include "core/error.hpp"
#include "core/log.hpp"

int main(int argc, char** argv) {
  using namespace annulus;
  try {
    const char* const fault = std::getenv("ANNULUS_FAULT");
    return app::annulus_main(argc, argv, test::seams_with(fault ? fault : ""));
  } catch (const Refused& refused) {
    log::error(refused.what());
    return static_cast<int>(refused.code());
  }
}
