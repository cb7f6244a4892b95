/// From a fused projection to attention's operands: queries and keys are normalised per head (RMSNorm over head_dim
/// with one gain shared by all heads, as Qwen3 does), then rotated by their positions (Su et al. 2021, RoFormer; halves
/// k, k + d/2 form a pair); values are copied. Norm and rotation are both optional.
#pragma once
#include <vector>

#include "core/views.hpp"
#include "ops/attention.hpp"

namespace annulus::ops {

struct QkvShape {
  int q_heads, kv_heads, head_dim;
  index_t width() const { return index_t(q_heads + 2 * kv_heads) * head_dim; }
};

template <class T>
struct QkNormRope {
  using A = Accum<T>;
  /// What forward and backward share.
  struct Inputs {
    QkvShape shape;
    Matrix<const T> qkv;             ///< (tokens, (q_heads + 2 kv_heads) * d), q | k | v, before norm and rotation
    Vector<const T> q_gain, k_gain;  ///< (d), or empty: no norm
    double eps;
    Vector<const index_t> positions;  ///< (tokens)
    Matrix<const A> cosines, sines;   ///< (positions of the table, d / 2), or empty: no rotation
  };

  ///   q     (tokens, q_heads, d)   out
  ///   k, v  (tokens, kv_heads, d)  out
  static void forward(const Exec& exec, const Inputs& in, Heads<T> q, Heads<T> k, Heads<T> v);

  ///   dq            (tokens, q_heads, d)                      in
  ///   dk, dv        (tokens, kv_heads, d)                     in
  ///   dqkv          (tokens, (q_heads + 2 kv_heads) * d)      out; may be the memory of in.qkv
  ///   dq_gain, dk_gain  (d)                                   in and out: this rank's tokens are added
  ///   workspace     (workspace_size(shape, tokens))           scratch
  static void backward(const Exec& exec, const Inputs& in, Heads<const A> dq, Heads<const A> dk, Heads<const A> dv,
                       Matrix<T> dqkv, Vector<A> dq_gain, Vector<A> dk_gain, Vector<A> workspace);

  static index_t workspace_size(const QkvShape& shape, index_t tokens);
};

/// Cosines and sines of position * theta^(-2 k / head_dim), formed in fp64 on the host, row-major (positions, head_dim
/// / 2).
struct RopeTable {
  std::vector<double> cosines, sines;
};
RopeTable rope_table(index_t positions, int head_dim, double theta);

}  // namespace annulus::ops
