/// Reverse-mode differentiation of scalars (Griewank & Walther 2008, chapter 3): every number remembers the one or two
/// that it came from and its slopes with respect to them. Slow, and too simple to be wrong.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

namespace annulus::naive {

class Tape;

/// To bf16's 8 significant bits, ties to even.
inline double rounded(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8);
}

struct Number {
  double value = 0;
  std::int32_t node = -1;  ///< -1: a constant
};

class Tape {
 public:
  Number variable(double value) { return record(value, -1, 0, -1, 0); }

  Number record(double value, std::int32_t a, double slope_a, std::int32_t b, double slope_b) {
    nodes_.push_back({a, b, slope_a, slope_b});
    return {value, static_cast<std::int32_t>(nodes_.size() - 1)};
  }

  /// What is known of a number's slope is rounded before it goes on to what the number came from.
  void round_slope(Number a) { nodes_[a.node].rounds = true; }

  /// weight * d result / d node, for every node.
  std::vector<double> gradient(Number result, double weight) const {
    std::vector<double> adjoint(nodes_.size(), 0.0);
    if (result.node >= 0) adjoint[result.node] = weight;
    for (auto n = static_cast<std::int32_t>(nodes_.size()) - 1; n >= 0; --n) {
      const Node& node = nodes_[n];
      if (node.rounds) adjoint[n] = rounded(adjoint[n]);
      if (node.a >= 0) adjoint[node.a] += node.slope_a * adjoint[n];
      if (node.b >= 0) adjoint[node.b] += node.slope_b * adjoint[n];
    }
    return adjoint;
  }

  static Tape& current() {
    static Tape tape;
    return tape;
  }
  void clear() { nodes_.clear(); }

 private:
  struct Node {
    std::int32_t a, b;
    double slope_a, slope_b;
    bool rounds = false;
  };
  std::vector<Node> nodes_;
};

inline Number operation(double value, Number a, double slope_a, Number b = {}, double slope_b = 0) {
  return a.node < 0 && b.node < 0 ? Number{value} : Tape::current().record(value, a.node, slope_a, b.node, slope_b);
}
inline Number operator+(Number a, Number b) { return operation(a.value + b.value, a, 1, b, 1); }
inline Number operator-(Number a, Number b) { return operation(a.value - b.value, a, 1, b, -1); }
inline Number operator*(Number a, Number b) { return operation(a.value * b.value, a, b.value, b, a.value); }
inline Number operator*(double factor, Number a) { return operation(factor * a.value, a, factor); }
inline Number operator/(Number a, Number b) {
  return operation(a.value / b.value, a, 1 / b.value, b, -a.value / (b.value * b.value));
}
inline Number exp(Number a) { return operation(std::exp(a.value), a, std::exp(a.value)); }
inline Number log(Number a) { return operation(std::log(a.value), a, 1 / a.value); }
inline Number sqrt(Number a) { return operation(std::sqrt(a.value), a, 0.5 / std::sqrt(a.value)); }

}  // namespace annulus::naive
