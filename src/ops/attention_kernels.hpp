/// The implementations behind `attention_kernel`, each in a file of its own.
#pragma once
#include "ops/attention.hpp"

namespace annulus::ops {

/// The definition, one worker for each query and head or each key and head: slow, and what the others are held to.
template <class T>
std::unique_ptr<Attention<T>> reference_attention();

/// Tiles in scratch memory and products in registers: any device from one source.
template <class T>
std::unique_ptr<Attention<T>> portable_attention();

/// delta = rowsum(out * dout), as Attention::row_dots.
template <class T>
void attention_row_dots(const Exec& exec, const AttentionShape& shape, index_t queries, Heads<const T> out,
                        Heads<const T> dout, Accum<T>* delta);

}  // namespace annulus::ops
