#include "ops/lm_loss.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "ops/budget.hpp"

using namespace annulus;
using namespace annulus::test;
using ops::LmLoss;

namespace {

using Labels = std::vector<std::int32_t>;

Labels some_labels(index_t tokens, index_t vocabulary) {
  Labels labels(tokens);
  for (index_t t = 0; t < tokens; ++t)
    labels[t] = t % 5 == 2 ? ignored_label : static_cast<std::int32_t>((t * 7 + 1) % vocabulary);
  return labels;
}

struct Result {
  Numbers nll, dx, dhead;
  double nll_sum = 0;
};

Result naive(const Numbers& x, const Numbers& head, const Labels& labels, index_t width, double weight, double held) {
  const index_t tokens = labels.size(), vocabulary = head.size() / width;
  Result out{Numbers(tokens), Numbers(x.size()), Numbers(head.size(), held)};
  Numbers z(vocabulary);
  for (index_t t = 0; t < tokens; ++t) {
    if (labels[t] == ignored_label) continue;
    double sum = 0;
    for (index_t c = 0; c < vocabulary; ++c) {
      z[c] = 0;
      for (index_t i = 0; i < width; ++i) z[c] += x[t * width + i] * head[c * width + i];
    }
    const double most = *std::max_element(z.begin(), z.end());
    for (const double value : z) sum += std::exp(value - most);
    out.nll[t] = std::log(sum) + most - z[labels[t]];
    out.nll_sum += out.nll[t];
    for (index_t c = 0; c < vocabulary; ++c) {
      const double dz = weight * (std::exp(z[c] - most) / sum - (c == labels[t] ? 1 : 0));
      for (index_t i = 0; i < width; ++i) {
        out.dx[t * width + i] += dz * head[c * width + i];
        out.dhead[c * width + i] += dz * x[t * width + i];
      }
    }
  }
  return out;
}

template <class T>
Result computed(const Exec& exec, const Numbers& x, const Numbers& head, const Labels& labels, index_t width,
                double weight, Into into, double held) {
  using A = Accum<T>;
  const index_t tokens = labels.size(), vocabulary = head.size() / width;
  const auto X = matrix<T>(x, tokens, width);
  const auto H = matrix<T>(head, vocabulary, width);
  const auto dX = poisoned_matrix<T>(tokens, width);
  const auto dH = into == Into::add ? matrix<A>(Numbers(head.size(), held), vocabulary, width)
                                    : poisoned_matrix<A>(vocabulary, width);
  const auto nll = poisoned<A>(tokens);
  const auto nll_sum = upload<double>(Numbers{held});
  const Vector<std::int32_t> L("labels", tokens);
  Kokkos::deep_copy(L, Kokkos::View<const std::int32_t*, Kokkos::HostSpace>(labels.data(), tokens));
  const index_t size = LmLoss<T>::workspace_size(tokens, width, vocabulary);
  const auto workspace = poisoned<A>(size), another = poisoned<A>(size);
  Kokkos::fence();
  LmLoss<T>::forward_backward(exec, X, H, L, weight, dX, into, dH, nll_sum, workspace);
  LmLoss<T>::forward(exec, X, H, L, nll, another);
  exec.fence();
  return {download(nll), download(dX), download(dH), download(nll_sum)[0] - held};
}

}  // namespace

TEMPLATE_TEST_CASE("lm_loss: nll and gradients equal the definition", "[ops]", float, double, bf16) {
  using T = TestType;
  using A = Accum<T>;
  const index_t width = 24, vocabulary = GENERATE(1, 19, 256), tokens = GENERATE(0, 1, 7, 300);
  CAPTURE(vocabulary, tokens);
  const double weight = 0.125, held = 0.5;
  const Numbers x = rounded<T>(scaled(wave(tokens * width, 1.3), 2)), head = rounded<T>(wave(vocabulary * width, 0.37));
  const Labels labels = some_labels(tokens, vocabulary);
  // A logit sums `width` products of at most 2 x 2.2: its error is in every nll, and relative in every probability.
  const double logit = width * 4.4, of_logits = 4 * width + 16;
  for (const Into into : {Into::overwrite, Into::add}) {
    const Result expected = naive(x, head, labels, width, weight, into == Into::add ? held : 0);
    const Result found = computed<T>(Exec{}, x, head, labels, width, weight, into, held);
    CHECK(agrees<A>(found.nll, expected.nll, of_logits, logit));
    CHECK(std::abs(found.nll_sum - expected.nll_sum) <= (tokens + 1) * of_logits * half_ulp<A> * logit);
    // each probability is rounded to T; the terms of a row of dx add up to 2 x weight x 1, of dhead to tokens x weight
    // x 2
    const double dz = half_ulp<T> + of_logits * half_ulp<A> * logit;
    CHECK(agrees<T>(found.dx, expected.dx, dz / half_ulp<A>, 2 * weight));
    CHECK(agrees<A>(found.dhead, expected.dhead, dz / half_ulp<A>, held + 2 * weight * tokens));
  }
}

TEMPLATE_TEST_CASE("lm_loss: without a label there is no loss and no gradient", "[ops]", float, double, bf16) {
  const index_t width = 8, vocabulary = 11, tokens = 5;
  const Numbers x = wave(tokens * width, 1.3), head = wave(vocabulary * width, 0.37);
  const Result found =
      computed<TestType>(Exec{}, x, head, Labels(tokens, ignored_label), width, 0.3, Into::overwrite, 0.5);
  CHECK(found.nll == Numbers(tokens, 0));
  CHECK(found.nll_sum == 0);
  CHECK(found.dx == Numbers(tokens * width, 0));
  CHECK(found.dhead == Numbers(vocabulary * width, 0));
}

TEMPLATE_TEST_CASE("lm_loss: logits far apart neither overflow nor lose the loss", "[ops]", float, double, bf16) {
  const Numbers x{512}, head{2, -2, 1};  // logits 1024, -1024, 512
  CHECK(computed<TestType>(Exec{}, x, head, {0}, 1, 1, Into::overwrite, 0).nll_sum == 0);
  CHECK(computed<TestType>(Exec{}, x, head, {1}, 1, 1, Into::overwrite, 0).nll_sum == 2048);
}

TEST_CASE("lm_loss: gradients are the finite differences of the operator itself", "[ops]") {
  const index_t width = 5, vocabulary = 7, tokens = 6;
  const double weight = 0.25;
  Numbers x = wave(tokens * width, 1.3), head = wave(vocabulary * width, 0.37);
  const Labels labels = some_labels(tokens, vocabulary);
  const Result found = computed<double>(Exec{}, x, head, labels, width, weight, Into::overwrite, 0);
  const auto loss = [&] {
    return weight * computed<double>(Exec{}, x, head, labels, width, weight, Into::overwrite, 0).nll_sum;
  };
  CHECK(is_slope(found.dx, x, loss, 1e-5, 1e-8));
  CHECK(is_slope(found.dhead, head, loss, 1e-5, 1e-8));
}

TEMPLATE_TEST_CASE("lm_loss: results are the same bits on any number of threads", "[ops]", float, double, bf16) {
  if (!on_gpu && Exec{}.concurrency() < 3) SKIP("needs OMP_NUM_THREADS >= 3, as ctest sets it");
  const index_t width = 64, vocabulary = 256, tokens = 700;
  const Numbers x = wave(tokens * width, 1.3), head = wave(vocabulary * width, 0.37);
  const Labels labels = some_labels(tokens, vocabulary);
  const Result whole = computed<TestType>(Exec{}, x, head, labels, width, 0.1, Into::overwrite, 0);
  for_thread_counts([&](const Exec& exec) {
    const Result found = computed<TestType>(exec, x, head, labels, width, 0.1, Into::overwrite, 0);
    CHECK((found.nll == whole.nll && found.dx == whole.dx && found.dhead == whole.dhead));
    CHECK(found.nll_sum == whole.nll_sum);
  });
}
