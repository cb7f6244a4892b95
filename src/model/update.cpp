#include <cassert>

#include "core/profile.hpp"
#include "model/transformer.hpp"
#include "ops/adamw.hpp"

namespace annulus::model {

template <class T>
StepTicket Transformer<T>::update(const Update& update) {
  const Region region("annulus::model::update");
  sum_over_ranks();
  for (const OwnedStretch& part : owned_) {
    const auto at = [&](const Vector<A>& shard) { return Vector<A>(shard.data() + part.packed, part.arena.count); };
    const ops::AdamWStep step{.lr = update.lr,
                              .beta1 = update.beta1,
                              .beta2 = update.beta2,
                              .eps = update.eps,
                              .decay = part.decays ? update.decay : 0,
                              .step = update.step,
                              .clip = update.clip};
    ops::AdamW<T>::update(exec(), step, Vector<const A>(gradient_.data() + part.arena.begin, part.arena.count),
                          squared_norm_, master(part), at(m_), at(v_),
                          Vector<T>(compute_.data() + part.arena.begin, part.arena.count));
  }
  gather();
  return numbers();
}

template <class T>
StepNumbers Transformer<T>::gradients_only() {
  sum_over_ranks();
  return numbers().numbers();
}

/// Ends the reduction of the gradients and sums over all ranks what is a number: the squares of each rank's own shard,
/// and the losses.
template <class T>
void Transformer<T>::sum_over_ranks() {
  const Frame frame(memory_, exec(), "update");
  assert(reductions_.size() == table_.buckets().size());  // the last micro-batch has been accumulated
  for (comm::Ticket& reduction : reductions_) reduction.wait(exec());
  reductions_.clear();

  Kokkos::deep_copy(exec(), squared_norm_, 0);
  for (int bucket = 0; bucket < static_cast<int>(table_.buckets().size()); ++bucket) {
    const Stretch own = table_.owned(place_.mesh.rank(), bucket);
    ops::add_squared_norm<A>(exec(), Vector<const A>(gradient_.data() + own.begin, own.count), squared_norm_,
                             memory_.vector(buffers_.update.squared_norm));
  }
  place_.mesh.reduce()
      .all_reduce(exec(), {memory_.data(buffers_.sums), buffers_.sums.count, Scalar::fp64}, comm::Reduction::sum)
      .wait(exec());
}

template <class T>
StepTicket Transformer<T>::numbers() {
  return download_.begin(exec(), memory_.data(buffers_.sums));
}

/// Each rank's new parameters, to all ranks.
template <class T>
void Transformer<T>::gather() {
  std::vector<comm::Ticket> tickets;
  for (int bucket = 0; bucket < static_cast<int>(table_.buckets().size()); ++bucket) {
    const Stretch whole = table_.buckets()[bucket], own = table_.owned(place_.mesh.rank(), bucket);
    tickets.push_back(place_.mesh.reduce().all_gather(exec(), {compute_.data() + own.begin, own.count, compute_type()},
                                                      {compute_.data() + whole.begin, whole.count, compute_type()}));
  }
  for (comm::Ticket& ticket : tickets) ticket.wait(exec());
}

template class Transformer<float>;
template class Transformer<double>;
template class Transformer<bf16>;

}  // namespace annulus::model
