#include "comm/nccl_communicator.hpp"
#include "core/error.hpp"

namespace annulus::comm {

std::string nccl_obstacle(Communicator&, GpuSharing) { return "this build is without NCCL"; }

std::unique_ptr<Communicator> nccl_communicator(std::unique_ptr<Communicator>) {
  throw Refused("this build is without NCCL");
}

}  // namespace annulus::comm
