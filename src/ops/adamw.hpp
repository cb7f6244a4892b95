/// AdamW with decoupled weight decay (Loshchilov & Hutter 2019, algorithm 2) on a stretch of the flat arenas.
///   g = clip * gradient;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2
///   p -= lr ((m / (1 - b1^step)) / (sqrt(v / (1 - b2^step)) + eps) + decay p)
#pragma once
#include "core/views.hpp"

namespace annulus::ops {

struct AdamWStep {
  double lr, beta1, beta2, eps, decay;
  index_t step;  ///< 1 for the first update
  double clip;   ///< largest norm, <= 0: none. The factor min(1, clip / norm) is formed on the device
};

template <class T>
struct AdamW {
  using A = Accum<T>;
  ///   gradient      (count)  in
  ///   squared_norm  (1)      in: of all gradients of all ranks
  ///   master, m, v  (count)  in and out
  ///   compute       (count)  out: master rounded to T; may be master where T is A
  static void update(const Exec& exec, const AdamWStep& step, Vector<const A> gradient,
                     Vector<const double> squared_norm, Vector<A> master, Vector<A> m, Vector<A> v, Vector<T> compute);
};

/// squared_norm += the sum of squares of `values`, in fp64, in an order that depends on the count alone.
///   workspace  (squared_norm_workspace(count))  scratch
template <class A>
void add_squared_norm(const Exec& exec, Vector<const A> values, Vector<double> squared_norm, Vector<double> workspace);
index_t squared_norm_workspace(index_t count);

}  // namespace annulus::ops
