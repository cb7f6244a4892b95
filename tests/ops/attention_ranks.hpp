/// Attention as the ranks of a ring compute it, one after another in one process: each rank's queries meet the blocks
/// of keys in ring order, the softmax state goes from block to block, gradients of keys return to their owner.
#pragma once
#include <memory>
#include <string>

#include "core/exec.hpp"
#include "ops/attention.hpp"
#include "ops/attention_oracle.hpp"
#include "support/views.hpp"

namespace annulus::test {

/// The tokens that a rank holds, in memory order: intervals of the global order.
using Share = std::vector<std::pair<index_t, index_t>>;

/// Chunk r and chunk 2R - 1 - r of 2R for each rank r of R.
inline std::vector<Share> zigzag(index_t tokens, int ranks) {
  const auto edge = [&](int chunk) { return tokens * chunk / (2 * ranks); };
  std::vector<Share> shares;
  for (int r = 0; r < ranks; ++r) {
    const int late = 2 * ranks - 1 - r;
    shares.push_back({{edge(r), edge(r + 1)}, {edge(late), edge(late + 1)}});
  }
  return shares;
}

inline std::vector<Share> whole(index_t tokens) { return {{{0, tokens}}}; }

/// Key order n of the problem is `first_order` + n for the operator.
inline constexpr index_t first_order = 1000;

/// One rank's part of a tensor, with gaps between tokens and heads, which hold NaN, and no alignment.
template <class T>
struct Part {
  int heads, dims;
  std::vector<index_t> tokens;  // global
  index_t head_stride, token_stride;
  Vector<T> memory;

  Part(const Share& share, int heads, int dims) : heads(heads), dims(dims), head_stride(dims + 3) {
    for (const auto& [begin, end] : share)
      for (index_t token = begin; token < end; ++token) tokens.push_back(token);
    token_stride = heads * head_stride + 5;
    memory = poisoned<T>(tokens.size() * token_stride + 1);
  }
  index_t at(std::size_t token, int head) const { return 1 + token * token_stride + head * head_stride; }
  ops::Heads<T> view() const { return {memory.data() + 1, token_stride, head_stride}; }

  template <class Step>
  void for_each_element(const Step& step) const {
    for (std::size_t n = 0; n < tokens.size(); ++n)
      for (int h = 0; h < heads; ++h)
        for (int c = 0; c < dims; ++c) step((tokens[n] * heads + h) * dims + c, at(n, h) + c);
  }
  void take(const Numbers& global) {
    Numbers local = download(memory);
    for_each_element([&](index_t from, index_t to) { local[to] = global[from]; });
    upload(local, memory);
  }
  void give(Numbers& global) const {
    const Numbers local = download(memory);
    for_each_element([&](index_t to, index_t from) { global[to] = local[from]; });
  }
};

inline ops::Stretches stretches_of(const Share& share) {
  ops::Stretches stretches;
  for (const auto& [begin, end] : share) stretches.stretch[stretches.size++] = {first_order + begin, end - begin};
  return stretches;
}

inline ops::AttentionShape shape_of(const AttentionProblem& p) { return {p.q_heads, p.kv_heads, p.dims, p.scale}; }

template <class T>
Vector<index_t> bounds_of(const Part<T>& queries, const std::vector<index_t>& bound) {
  Vector<index_t> device("bounds", queries.tokens.size());
  auto host = Kokkos::create_mirror_view(device);
  for (std::size_t n = 0; n < queries.tokens.size(); ++n) host(n) = first_order + bound[queries.tokens[n]];
  Kokkos::deep_copy(device, host);
  return device;
}

template <class T>
AttentionResult attention_on_ranks(const ops::Attention<T>& kernel, const Exec& exec, const AttentionProblem& p,
                                   const std::vector<Share>& query_shares, const std::vector<Share>& key_shares) {
  using A = Accum<T>;
  const auto shape = shape_of(p);
  const int ranks = static_cast<int>(query_shares.size());
  AttentionResult result{Numbers(p.q.size()), Numbers(p.queries * p.q_heads), Numbers(p.q.size()), Numbers(p.k.size()),
                         Numbers(p.k.size())};

  std::vector<Part<T>> k, v;
  std::vector<Part<A>> dk, dv;
  for (const Share& share : key_shares) {
    k.emplace_back(share, p.kv_heads, p.dims).take(p.k);
    v.emplace_back(share, p.kv_heads, p.dims).take(p.v);
    dk.emplace_back(share, p.kv_heads, p.dims);
    dv.emplace_back(share, p.kv_heads, p.dims);
  }
  for (int r = 0; r < ranks; ++r) {
    Part<T> q(query_shares[r], p.q_heads, p.dims), dout = q, out = q;
    out.memory = poisoned<T>(q.memory.size());
    dout.memory = poisoned<T>(q.memory.size());
    q.take(p.q);
    dout.take(p.dout);
    const Part<A> dq(query_shares[r], p.q_heads, p.dims);
    const index_t queries = q.tokens.size();
    const auto begin = bounds_of(q, p.begin), end = bounds_of(q, p.end);
    const auto lse = poisoned<A>(p.q_heads * queries), delta = poisoned<A>(p.q_heads * queries);
    const auto state = poisoned<A>(kernel.state_size(shape, queries));
    const auto block = [&](int step) { return (r - step + ranks) % ranks; };
    const auto tokens = [&](int b) {
      return ops::AttentionTokens{stretches_of(query_shares[r]), stretches_of(key_shares[b]), begin.data(), end.data()};
    };
    Kokkos::fence();

    for (int step = 0; step < ranks; ++step) {
      const int b = block(step);
      const ops::BlockPass pass{.begin = step == 0, .finish = step == ranks - 1};
      kernel.forward(exec, shape, tokens(b), q.view(), k[b].view(), v[b].view(), pass,
                     ranks == 1 ? nullptr : state.data(), out.view(), lse.data());
    }
    kernel.row_dots(exec, shape, queries, out.view(), dout.view(), delta.data());
    for (int step = 0; step < ranks; ++step) {
      const int b = block(step);
      const auto workspace = poisoned<A>(kernel.backward_workspace_size(shape, queries, k[b].tokens.size()));
      Kokkos::fence();
      kernel.backward(exec, shape, tokens(b), q.view(), k[b].view(), v[b].view(), dout.view(), lse.data(), delta.data(),
                      step == 0 ? Into::overwrite : Into::add, dq.view(), r == 0 ? Into::overwrite : Into::add,
                      dk[b].view(), dv[b].view(), workspace.data());
      exec.fence();
    }
    out.give(result.out);
    dq.give(result.dq);
    const Numbers local = download(lse);
    for (index_t n = 0; n < queries; ++n)
      for (int h = 0; h < p.q_heads; ++h) result.lse[q.tokens[n] * p.q_heads + h] = local[h * queries + n];
  }
  for (int r = 0; r < ranks; ++r) {
    dk[r].give(result.dk);
    dv[r].give(result.dv);
  }
  return result;
}

}  // namespace annulus::test
