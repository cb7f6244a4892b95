/// Results larger than the caches are written past them (core/lanes.hpp): they must be the bits of small ones.
#include <catch2/catch_template_test_macros.hpp>

#include "ops/residual_norm.hpp"
#include "ops/rms_norm.hpp"
#include "ops/swiglu.hpp"
#include "support/views.hpp"

using namespace annulus;
using namespace annulus::test;

namespace {

constexpr index_t piece = 160;  // rows

template <class View>
auto rows_of(const View& view, index_t begin, index_t end) {
  return Matrix<typename View::value_type>(view.data() + begin * view.extent(1), end - begin, view.extent(1));
}

/// What op(begin, end, outputs...) leaves in (tokens, width) views, all rows at once.
template <class T, class Operator>
Numbers at_once(index_t tokens, index_t width, const Operator& op) {
  const Matrix<T> out("test", tokens, width);
  op(0, tokens, out);
  Kokkos::fence();
  return download(out);
}

template <class T, class Operator>
Numbers in_pieces(index_t tokens, index_t width, const Operator& op) {
  const Matrix<T> out("test", tokens, width);
  for (index_t begin = 0; begin < tokens; begin += piece) {
    const index_t end = std::min(begin + piece, tokens);
    op(begin, end, rows_of(out, begin, end));
  }
  Kokkos::fence();
  return download(out);
}

template <class T>
Matrix<T> waves(index_t tokens, index_t width, double frequency) {
  return upload(wave(tokens * width, frequency), Matrix<T>("test", tokens, width));
}

}  // namespace

TEMPLATE_TEST_CASE("operators: large results are the bits of small ones", "[ops]", float, double, bf16) {
  using T = TestType;
  using A = Accum<T>;
  // a pitch of whole cache lines, as models have, and one of single elements
  for (const index_t width : {1024, 1021}) {
    const index_t tokens = (index_t(36) << 20) / (width * index_t(sizeof(T))) / 2 + 7;
    CAPTURE(tokens, width);
    const Matrix<T> x = waves<T>(tokens, width, 1.3), dy = waves<T>(tokens, width, 0.7);
    const Vector<T> gain = upload<T>(wave(width, 0.3));
    const Vector<A> rstd("test", tokens), dgain("test", width);
    const Vector<A> workspace("test", ops::RmsNorm<T>::workspace_size(tokens, width));
    const auto part = [](const Vector<A>& all, index_t begin, index_t end) {
      return Vector<A>(all.data() + begin, end - begin);
    };
    const auto same = [&](index_t columns, const auto& op) {
      return at_once<T>(tokens, columns, op) == in_pieces<T>(tokens, columns, op);
    };

    CHECK(same(width, [&](index_t begin, index_t end, const Matrix<T>& y) {
      ops::RmsNorm<T>::forward(Exec{}, rows_of(x, begin, end), gain, 1e-5, y, part(rstd, begin, end));
    }));
    CHECK(same(width, [&](index_t begin, index_t end, const Matrix<T>& dx) {
      ops::RmsNorm<T>::backward(Exec{}, rows_of(dy, begin, end), rows_of(x, begin, end), gain, part(rstd, begin, end),
                                Into::overwrite, dx, dgain, workspace);
    }));
    CHECK(same(width, [&](index_t begin, index_t end, const Matrix<T>& y) {
      const Matrix<T> sum("test", end - begin, width);
      ops::ResidualNorm<T, T>::forward(Exec{}, rows_of(x, begin, end), rows_of(dy, begin, end), gain, 1e-5, sum, y,
                                       part(rstd, begin, end));
    }));

    const Matrix<T> gate_up = waves<T>(tokens, 2 * width, 1.1);
    CHECK(same(width, [&](index_t begin, index_t end, const Matrix<T>& hidden) {
      ops::SwiGlu<T>::forward(Exec{}, rows_of(gate_up, begin, end), hidden);
    }));
    CHECK(same(2 * width, [&](index_t begin, index_t end, const Matrix<T>& dgate_up) {
      ops::SwiGlu<T>::backward(Exec{}, rows_of(dy, begin, end), rows_of(gate_up, begin, end), dgate_up);
    }));
  }
}
