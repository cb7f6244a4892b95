#include "cp/p2p_ring.hpp"

#include <algorithm>
#include <cassert>

#include "cp/gradient_sum.hpp"

namespace annulus::cp {

namespace {

/// Blocks are bytes to a rotator; a message needs a type.
constexpr Scalar word = Scalar::int32;

/// Each buffer starts where any kernel's loads are aligned.
constexpr index_t padded(index_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

index_t P2pRing::workspace_bytes(int ranks, index_t block_bytes, index_t gradient_bytes) {
  if (ranks == 1) return 0;
  return 2 * (padded(block_bytes) + padded(gradient_bytes));
}

void P2pRing::begin(const Streams& streams, const Pass& pass) {
  assert(pass.bytes_per_token % size_of(word) == 0);
  const index_t most = *std::max_element(pass.tokens, pass.tokens + size());
  const index_t block_bytes = padded(most * pass.bytes_per_token);
  const index_t gradient_bytes = padded(most * pass.gradients_per_token * size_of(pass.gradient_type));
  auto* place = static_cast<std::byte*>(pass.workspace);
  now_ = {.streams = &streams,
          .pass = pass,
          .blocks = {place, place + block_bytes},
          .gradients = {place + 2 * block_bytes, place + 2 * block_bytes + gradient_bytes}};
}

Rotator::Block P2pRing::block(int step) {
  const Exec& compute = now_.streams->compute();
  now_.block_arrival.wait(compute);
  const void* held = step == 0 ? now_.pass.own : now_.blocks[step % 2];
  if (step + 1 < size()) {
    // Starts when the previous step's kernels, the last readers of `free`, are done; this step's kernels are not waited
    // for, because they have not been given to compute() yet.
    void* free = now_.blocks[(step + 1) % 2];
    ring_.release(free, compute);
    now_.block_arrival = ring_.send_recv(compute, words(held, step), next(), words(free, step + 1), previous());
  }
  return {owner(step), held};
}

void P2pRing::add_gradient(int step, void* mine) {
  now_.own_gradient = mine;
  if (size() == 1) return;
  const Exec& compute = now_.streams->compute();
  const Scalar type = now_.pass.gradient_type;
  void* sum = now_.gradients[step % 2];
  void* free = now_.gradients[(step + 1) % 2];
  now_.gradient_arrival.wait(compute);
  fold_gradient(compute, step == 0 ? Into::overwrite : Into::add, type, mine, sum, gradients(step));
  ring_.release(free, compute);
  now_.gradient_arrival =
      ring_.send_recv(compute, {sum, gradients(step), type}, next(), {free, gradients(step + 1), type}, previous());
  now_.own_gradient = free;
}

const void* P2pRing::own_gradient() {
  now_.gradient_arrival.wait(now_.streams->compute());
  return now_.own_gradient;
}

index_t P2pRing::gradients(int step) const { return now_.pass.tokens[owner(step)] * now_.pass.gradients_per_token; }

comm::ConstValues P2pRing::words(const void* block, int step) const {
  return {block, now_.pass.tokens[owner(step)] * now_.pass.bytes_per_token / size_of(word), word};
}

comm::Values P2pRing::words(void* block, int step) const {
  return {block, now_.pass.tokens[owner(step)] * now_.pass.bytes_per_token / size_of(word), word};
}

}  // namespace annulus::cp
