#include "core/bf16.hpp"
#include "ops/attention_kernels.hpp"
#include "ops/attention_launch.hpp"

namespace annulus::ops {

namespace {

constexpr int most_dims = 256;

template <class T>
KOKKOS_FUNCTION Accum<T> element(const T* row, int c) {
  return static_cast<Accum<T>>(row[c]);
}

template <class T>
KOKKOS_FUNCTION Accum<T> dot(const T* a, const T* b, int dims) {
  Accum<T> sum = 0;
  for (int c = 0; c < dims; ++c) sum += element(a, c) * element(b, c);
  return sum;
}

/// step(key) for each key of the block that sees_begin <= order < sees_end holds.
template <class Step>
KOKKOS_FUNCTION void for_each_seen(const Stretches& keys, index_t sees_begin, index_t sees_end, const Step& step) {
  index_t first = 0;
  for (int s = 0; s < keys.size; ++s) {
    const auto [order, count] = keys.stretch[s];
    for (index_t j = tokens_before(sees_begin, order, count); j < tokens_before(sees_end, order, count); ++j)
      step(first + j);
    first += count;
  }
}

/// A query and head with the running softmax (Milakov & Gimelshein 2018): sum and out are relative to exp(maximum).
template <class T>
struct Forward {
  using A = Accum<T>;
  OwnStretch own;
  Stretches keys;
  Visible visible;
  int q_heads, group, dims;
  A scale;
  index_t queries;
  HeadRows<const T> q, k, v;
  HeadRows<T> out;
  bool begin, finish;
  A *state, *lse;

  KOKKOS_FUNCTION void operator()(index_t r) const {
    const index_t i = own.first + r / q_heads;
    const int h = static_cast<int>(r % q_heads);
    const index_t row = h * queries + i;
    A* const held = begin && finish ? nullptr : state + row * (dims + 2);
    const A none = -Kokkos::Experimental::infinity_v<A>;
    A maximum = begin ? none : held[dims], sum = begin ? 0 : held[dims + 1], acc[most_dims];
    for (int c = 0; c < dims; ++c) acc[c] = begin ? 0 : held[c];

    for_each_seen(keys, visible.begin[i], visible.end[i], [&](index_t j) {
      const A logit = scale * dot(q.at(i, h), k.at(j, h / group), dims);
      const A larger = Kokkos::max(maximum, logit);
      const A fade = Kokkos::exp(maximum - larger), p = Kokkos::exp(logit - larger);
      for (int c = 0; c < dims; ++c) acc[c] = acc[c] * fade + p * element(v.at(j, h / group), c);
      sum = sum * fade + p;
      maximum = larger;
    });

    if (finish) {
      for (int c = 0; c < dims; ++c) out.at(i, h)[c] = T(sum > 0 ? acc[c] / sum : A(0));
      lse[row] = sum > 0 ? maximum + Kokkos::log(sum) : none;
    } else {
      for (int c = 0; c < dims; ++c) held[c] = acc[c];
      held[dims] = maximum;
      held[dims + 1] = sum;
    }
  }
};

/// dq_i = scale sum_j ds_ij k_j with ds_ij = p_ij (dout_i v_j - delta_i).
template <class T>
struct BackwardQ {
  using A = Accum<T>;
  OwnStretch own;
  Stretches keys;
  Visible visible;
  int q_heads, group, dims;
  A scale;
  index_t queries;
  HeadRows<const T> q, k, v, dout;
  const A *lse, *delta;
  bool add;
  HeadRows<A> dq;

  KOKKOS_FUNCTION void operator()(index_t r) const {
    const index_t i = own.first + r / q_heads;
    const int h = static_cast<int>(r % q_heads);
    const index_t row = h * queries + i;
    A acc[most_dims] = {};
    for_each_seen(keys, visible.begin[i], visible.end[i], [&](index_t j) {
      const T *k_j = k.at(j, h / group), *v_j = v.at(j, h / group);
      const A p = Kokkos::exp(scale * dot(q.at(i, h), k_j, dims) - lse[row]);
      const A ds = p * (dot(dout.at(i, h), v_j, dims) - delta[row]);
      for (int c = 0; c < dims; ++c) acc[c] += ds * element(k_j, c);
    });
    A* dq_i = dq.at(i, h);
    for (int c = 0; c < dims; ++c) dq_i[c] = (add ? dq_i[c] : A(0)) + scale * acc[c];
  }
};

/// dk_j = scale sum_i ds_ij q_i, dv_j = sum_i p_ij dout_i, over the queries and heads that read key j.
template <class T>
struct BackwardKv {
  using A = Accum<T>;
  OwnStretch own;
  Visible visible;
  int kv_heads, group, dims;
  A scale;
  index_t queries;
  HeadRows<const T> q, k, v, dout;
  const A *lse, *delta;
  bool add;
  HeadRows<A> dk, dv;

  KOKKOS_FUNCTION void operator()(index_t r) const {
    const index_t j = own.first + r / kv_heads, order = own.order + r / kv_heads;
    const int kv = static_cast<int>(r % kv_heads);
    A dk_acc[most_dims] = {}, dv_acc[most_dims] = {};
    for (int h = kv * group; h < (kv + 1) * group; ++h)
      for (index_t i = 0; i < queries; ++i) {
        if (order < visible.begin[i] || order >= visible.end[i]) continue;
        const index_t row = h * queries + i;
        const T *q_i = q.at(i, h), *dout_i = dout.at(i, h);
        const A p = Kokkos::exp(scale * dot(q_i, k.at(j, kv), dims) - lse[row]);
        const A ds = p * (dot(dout_i, v.at(j, kv), dims) - delta[row]);
        for (int c = 0; c < dims; ++c) {
          dk_acc[c] += ds * element(q_i, c);
          dv_acc[c] += p * element(dout_i, c);
        }
      }
    A *dk_j = dk.at(j, kv), *dv_j = dv.at(j, kv);
    for (int c = 0; c < dims; ++c) {
      dk_j[c] = (add ? dk_j[c] : A(0)) + scale * dk_acc[c];
      dv_j[c] = (add ? dv_j[c] : A(0)) + dv_acc[c];
    }
  }
};

template <class Kernel>
void launch(const char* label, const Exec& exec, index_t workers, const Kernel& kernel) {
  static_assert(sizeof(Kernel) <= largest_kernel);
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, workers), kernel);
}

template <class T>
class ReferenceAttention final : public Attention<T> {
 public:
  using A = Accum<T>;

  const char* name() const override { return "reference"; }

  index_t state_size(const AttentionShape& shape, index_t queries) const override {
    return shape.q_heads * queries * (shape.head_dim + 2);
  }
  index_t backward_workspace_size(const AttentionShape&, index_t, index_t) const override { return 0; }

  void forward(const Exec& exec, const AttentionShape& shape, const AttentionTokens& tokens, Heads<const T> q,
               Heads<const T> k, Heads<const T> v, BlockPass pass, A* state, Heads<T> out, A* lse) const override {
    check(shape);
    const int group = shape.q_heads / shape.kv_heads;
    for_each_stretch(tokens.queries, [&](OwnStretch own) {
      launch("annulus::ops::attention_forward[reference]", exec, own.count * shape.q_heads,
             Forward<T>{own,
                        tokens.keys,
                        {tokens.visible_begin, tokens.visible_end},
                        shape.q_heads,
                        group,
                        shape.head_dim,
                        A(shape.scale),
                        tokens.queries.tokens(),
                        q,
                        k,
                        v,
                        out,
                        pass.begin,
                        pass.finish,
                        state,
                        lse});
    });
  }

  void row_dots(const Exec& exec, const AttentionShape& shape, index_t queries, Heads<const T> out, Heads<const T> dout,
                A* delta) const override {
    attention_row_dots<T>(exec, shape, queries, out, dout, delta);
  }

  void backward(const Exec& exec, const AttentionShape& shape, const AttentionTokens& tokens, Heads<const T> q,
                Heads<const T> k, Heads<const T> v, Heads<const T> dout, const A* lse, const A* delta, Into into_dq,
                Heads<A> dq, Into into_dkv, Heads<A> dk, Heads<A> dv, A*) const override {
    check(shape);
    const int group = shape.q_heads / shape.kv_heads;
    const index_t queries = tokens.queries.tokens();
    const Visible visible{tokens.visible_begin, tokens.visible_end};
    for_each_stretch(tokens.queries, [&](OwnStretch own) {
      launch("annulus::ops::attention_backward_q[reference]", exec, own.count * shape.q_heads,
             BackwardQ<T>{own, tokens.keys, visible, shape.q_heads, group, shape.head_dim, A(shape.scale), queries, q,
                          k, v, dout, lse, delta, into_dq == Into::add, dq});
    });
    for_each_stretch(tokens.keys, [&](OwnStretch own) {
      launch("annulus::ops::attention_backward_kv[reference]", exec, own.count * shape.kv_heads,
             BackwardKv<T>{own, visible, shape.kv_heads, group, shape.head_dim, A(shape.scale), queries, q, k, v, dout,
                           lse, delta, into_dkv == Into::add, dk, dv});
    });
  }
};

}  // namespace

template <class T>
std::unique_ptr<Attention<T>> reference_attention() {
  return std::make_unique<ReferenceAttention<T>>();
}

template std::unique_ptr<Attention<float>> reference_attention();
template std::unique_ptr<Attention<double>> reference_attention();
template std::unique_ptr<Attention<bf16>> reference_attention();

}  // namespace annulus::ops
