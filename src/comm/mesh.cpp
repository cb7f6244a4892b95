#include "comm/mesh.hpp"

#include "comm/staged_communicator.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace annulus::comm {

Mesh::Mesh(std::unique_ptr<Communicator> world, MeshShape shape, const MeshOptions& options)
    : shape_(shape), world_(std::move(world)) {
  if (world_->size() != shape.size())
    throw Refused(text("the mesh dp x ring x ulysses = ", shape.dp, " x ", shape.ring, " x ", shape.ulysses, " needs ",
                       shape.size(), " ranks, and ", world_->size(), world_->size() == 1 ? " was" : " were",
                       " started"));
  const auto exchanging = [&](std::unique_ptr<Communicator> group) {
    auto served = on_device(std::move(group), options.transport);
    return options.around && size() > 1 ? options.around(std::move(served)) : std::move(served);
  };
  ring_ = exchanging(world_->split(dp_rank() * shape.ulysses + ulysses_rank(), ring_rank(), "ring"));
  reduce_ = exchanging(world_->split(0, rank(), "reduce"));
}

double agree(Communicator& world, double value, Reduction reduction) {
  world.agree({&value, 1, Scalar::fp64}, reduction);
  return value;
}

index_t agree(Communicator& world, index_t value, Reduction reduction) {
  world.agree({&value, 1, Scalar::int64}, reduction);
  return value;
}

}  // namespace annulus::comm
