/// A random order of 0 .. n - 1 that is computed, not stored: a Feistel network over the next even number of bits,
/// walked until it falls below n (Luby & Rackoff 1988; cycle walking: Black & Rogaway 2002). Its round function is
/// Philox.
#pragma once
#include "core/types.hpp"

namespace annulus::io {

/// Place of element i in the order that (seed, epoch) gives; each of 0 .. n - 1 exactly once. n < 2^62.
index_t permuted(index_t i, index_t n, std::uint64_t seed, index_t epoch);

}  // namespace annulus::io
