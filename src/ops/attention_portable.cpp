#include "ops/attention_portable.hpp"

#include "core/bf16.hpp"
#include "ops/attention_kernels.hpp"

namespace annulus::ops {

namespace {

template <class T>
class PortableAttention final : public Attention<T> {
 public:
  using A = Accum<T>;

  const char* name() const override { return "portable"; }

  index_t state_size(const AttentionShape& shape, index_t queries) const override {
    return shape.q_heads * queries * (shape.head_dim + 2);
  }
  index_t backward_workspace_size(const AttentionShape&, index_t, index_t) const override { return 0; }

  void forward(const Exec& exec, const AttentionShape& shape, const AttentionTokens& tokens, Heads<const T> q,
               Heads<const T> k, Heads<const T> v, BlockPass pass, A* state, Heads<T> out, A* lse) const override {
    check(shape);
    portable_forward<T>(exec, shape, tokens, {q, k, v, out, pass, state, lse});
  }

  void row_dots(const Exec& exec, const AttentionShape& shape, index_t queries, Heads<const T> out, Heads<const T> dout,
                A* delta) const override {
    attention_row_dots<T>(exec, shape, queries, out, dout, delta);
  }

  void backward(const Exec& exec, const AttentionShape& shape, const AttentionTokens& tokens, Heads<const T> q,
                Heads<const T> k, Heads<const T> v, Heads<const T> dout, const A* lse, const A* delta, Into into_dq,
                Heads<A> dq, Into into_dkv, Heads<A> dk, Heads<A> dv, A*) const override {
    check(shape);
    const BackwardOperands<T> operands{q, k, v, dout, lse, delta};
    portable_backward_q<T>(exec, shape, tokens, operands, into_dq, dq);
    portable_backward_kv<T>(exec, shape, tokens, operands, into_dkv, dk, dv);
  }
};

}  // namespace

template <class T>
std::unique_ptr<Attention<T>> portable_attention() {
  return std::make_unique<PortableAttention<T>>();
}

template std::unique_ptr<Attention<float>> portable_attention();
template std::unique_ptr<Attention<double>> portable_attention();
template std::unique_ptr<Attention<bf16>> portable_attention();

}  // namespace annulus::ops
