/// Counter-based random numbers (Salmon et al. 2011, Philox 4x32-10): a pure function of (seed, stream, index), so that
/// what is drawn does not depend on ranks, threads or order.
#pragma once
#include <array>
#include <cstdint>

#include "core/types.hpp"

namespace annulus {

/// Four words from a 128-bit counter and a 64-bit key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// What a number is drawn for; part of the counter, so that uses never overlap.
enum class Draw : std::uint32_t { initialisation = 1, shuffle = 2, sampling = 3, jitter = 4, test = 5 };

/// Element `index` of stream `stream`, uniform in [0, 1) with 53 bits.
double uniform(std::uint64_t seed, Draw draw, std::uint32_t stream, std::uint64_t index);
/// The same, standard normal (Box & Muller 1958).
double normal(std::uint64_t seed, Draw draw, std::uint32_t stream, std::uint64_t index);

}  // namespace annulus
