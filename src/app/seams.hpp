/// Where a test-only build of the program puts decorators between the rooms, to prove that `annulus verify` and
/// other tests see faults. The program itself leaves every seam empty.
#pragma once
#include <functional>
#include <memory>

#include "comm/communicator.hpp"
#include "cp/rotator.hpp"
#include "io/loader.hpp"
#include "model/model.hpp"

namespace annulus::app {

struct Seams {
  /// Around every communicator of a mesh with more than one rank.
  std::function<std::unique_ptr<comm::Communicator>(std::unique_ptr<comm::Communicator>)> communicator;
  std::function<std::unique_ptr<cp::Rotator>(std::unique_ptr<cp::Rotator>)> rotator;
  std::function<std::unique_ptr<io::Loader>(std::unique_ptr<io::Loader>)> loader;
  std::function<std::unique_ptr<model::Model>(std::unique_ptr<model::Model>)> model;
};

}  // namespace annulus::app
