/// The Llama family written down from its papers, one scalar at a time in fp64, sharing no code with the operators:
/// RMSNorm (Zhang & Sennrich 2019), RoPE by halves (Su et al. 2021), grouped-query attention (Ainslie et al. 2023),
/// SwiGLU (Shazeer 2020), norms before each branch, norms of queries and keys per head before the rotation. On request
/// it rounds to bf16 where bf16 compute does, and nowhere else.
#pragma once
#include <map>
#include <string>

#include "naive_tape.hpp"

namespace annulus::naive {

using Row = std::vector<Number>;
using Rows = std::vector<Row>;

struct LlamaShape {
  int layers, width, heads, kv_heads, head_dim, ffn, vocabulary;
  bool tied, qk_norm;
  double norm_eps, theta;
  bool bf16 = false;
};

/// A row of the batch. Token i predicts labels[i] where that is not negative, and attends to the tokens j with
/// begins[i] <= j < ends[i].
struct Text {
  std::vector<int> tokens, labels;
  std::vector<std::int64_t> positions, begins, ends;
};

class Llama {
 public:
  Llama(const LlamaShape& shape, std::map<std::string, Row> tensors) : shape_(shape), tensors_(std::move(tensors)) {}

  /// The sum over tokens with a label of -log p(label).
  Number nll_sum(const Text& text) const {
    Rows x;
    for (const int token : text.tokens) x.push_back(stored(matrix_row("embedding.weight", token, shape_.width)));
    for (int l = 0; l < shape_.layers; ++l) {
      const std::string layer = "layers." + std::to_string(l) + ".";
      x = stored(add(x, attention(layer + "attention.", stored(norm_all(x, layer + "attention_norm.gain")), text)));
      x = stored(add(x, feed_forward(layer + "ffn.", stored(norm_all(x, layer + "ffn_norm.gain")))));
    }
    x = stored(norm_all(x, "final_norm.gain"));
    Number sum{0};
    for (std::size_t t = 0; t < x.size(); ++t)
      if (text.labels[t] >= 0)
        sum = sum + surprise(with_stored_slope(times(shape_.tied ? "embedding.weight" : "head.weight", x[t])),
                             text.labels[t]);
    return sum;
  }

 private:
  /// A tensor that bf16 compute keeps in bf16, as it does its gradient.
  Row stored(const Row& row) const { return with_stored_slope(with_stored_value(row)); }
  Rows stored(const Rows& rows) const {
    Rows kept;
    for (const Row& row : rows) kept.push_back(stored(row));
    return kept;
  }
  /// One whose gradient is fp32.
  Row with_stored_value(const Row& row) const {
    Row kept = row;
    for (Number& a : kept)
      if (shape_.bf16) a = operation(rounded(a.value), a, 1);
    return kept;
  }
  /// One that itself is fp32. A node of its own, for other slopes of the same number are others.
  Row with_stored_slope(const Row& row) const {
    Row kept = row;
    for (Number& a : kept)
      if (shape_.bf16) Tape::current().round_slope(a = operation(a.value, a, 1));
    return kept;
  }

  /// a / b, whose own slopes are taken at the value that is kept, as attention's backward does.
  Number stored_quotient(Number a, Number b) const {
    const double value = shape_.bf16 ? rounded(a.value / b.value) : a.value / b.value;
    return operation(value, a, 1 / b.value, b, -value / b.value);
  }

  Row matrix_row(const std::string& name, int row, int width) const {
    const Row& all = tensors_.at(name);
    return {all.begin() + std::ptrdiff_t(row) * width, all.begin() + std::ptrdiff_t(row + 1) * width};
  }

  static Number dot(const Row& a, const Row& b) {
    Number sum{0};
    for (std::size_t i = 0; i < a.size(); ++i) sum = sum + a[i] * b[i];
    return sum;
  }

  static Rows add(const Rows& a, const Rows& b) {
    Rows sum = a;
    for (std::size_t t = 0; t < a.size(); ++t)
      for (std::size_t i = 0; i < a[t].size(); ++i) sum[t][i] = a[t][i] + b[t][i];
    return sum;
  }

  /// W x, with W stored (out, in).
  Row times(const std::string& name, const Row& x) const {
    const int width = static_cast<int>(x.size()), rows = static_cast<int>(tensors_.at(name).size()) / width;
    Row y;
    for (int row = 0; row < rows; ++row) y.push_back(dot(matrix_row(name, row, width), x));
    return y;
  }

  Row norm(const Row& x, const std::string& gain) const {
    const Number root = sqrt(1.0 / double(x.size()) * dot(x, x) + Number{shape_.norm_eps});
    Row y;
    for (std::size_t i = 0; i < x.size(); ++i) y.push_back(tensors_.at(gain)[i] * x[i] / root);
    return y;
  }

  Rows norm_all(const Rows& x, const std::string& gain) const {
    Rows y;
    for (const Row& row : x) y.push_back(norm(row, gain));
    return y;
  }

  /// Pairs (k, k + d/2) turn by position * theta^(-2k/d).
  Row rotated(const Row& head, std::int64_t position) const {
    const int half = shape_.head_dim / 2;
    Row turned = head;
    for (int k = 0; k < half; ++k) {
      const double angle = double(position) * std::pow(shape_.theta, -2.0 * k / shape_.head_dim);
      turned[k] = std::cos(angle) * head[k] - std::sin(angle) * head[k + half];
      turned[k + half] = std::sin(angle) * head[k] + std::cos(angle) * head[k + half];
    }
    return turned;
  }

  /// One head's part of a projection, normalised and rotated.
  Row query_or_key(const Row& projection, int head, const std::string& gain, std::int64_t position) const {
    const auto begin = projection.begin() + std::ptrdiff_t(head) * shape_.head_dim;
    const Row part(begin, begin + shape_.head_dim);
    return with_stored_value(rotated(shape_.qk_norm ? norm(part, gain) : part, position));
  }

  Rows attention(const std::string& name, const Rows& x, const Text& text) const {
    const int d = shape_.head_dim;
    Rows q, k, v, y;
    for (const Row& row : x) {
      q.push_back(stored(times(name + "q.weight", row)));
      k.push_back(stored(times(name + "k.weight", row)));
      v.push_back(stored(times(name + "v.weight", row)));
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      Row heads;
      for (int h = 0; h < shape_.heads; ++h) {
        const int shared = h / (shape_.heads / shape_.kv_heads);
        const Row query = query_or_key(q[i], h, name + "q_norm.gain", text.positions[i]);
        Row mixed(d);
        Number total{0};
        for (std::int64_t j = text.begins[i]; j < text.ends[i]; ++j) {
          const Row key = query_or_key(k[j], shared, name + "k_norm.gain", text.positions[j]);
          const Number p = exp(1 / std::sqrt(double(d)) * dot(query, key));
          total = total + p;
          for (int c = 0; c < d; ++c) mixed[c] = mixed[c] + p * v[j][shared * d + c];
        }
        for (int c = 0; c < d; ++c) heads.push_back(stored_quotient(mixed[c], total));
      }
      y.push_back(stored(times(name + "out.weight", with_stored_slope(heads))));
    }
    return y;
  }

  Rows feed_forward(const std::string& name, const Rows& x) const {
    Rows y;
    for (const Row& row : x) {
      const Row gate = stored(times(name + "gate.weight", row)), up = stored(times(name + "up.weight", row));
      Row hidden;
      for (std::size_t i = 0; i < gate.size(); ++i)
        hidden.push_back(gate[i] / (Number{1} + exp(-1.0 * gate[i])) * up[i]);
      y.push_back(stored(times(name + "down.weight", stored(hidden))));
    }
    return y;
  }

  static Number surprise(const Row& logits, int label) {
    Number sum{0};
    for (const Number& logit : logits) sum = sum + exp(logit);
    return log(sum) - logits[label];
  }

  LlamaShape shape_;
  std::map<std::string, Row> tensors_;
};

}  // namespace annulus::naive
