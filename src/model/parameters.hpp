/// The named tensors of a model and where they lie. One flat arena per kind (compute copy, master, gradient, m, v), one
/// table for all of them. Optimizer, gradient buckets, shards, checkpoints, hashes and export walk this table.
///
/// The arena is cut into buckets whose gradients complete together (a layer, the head, the embedding); each bucket is
/// padded to a multiple of the world's size times 256 B, and rank r owns part r of every bucket: its shard.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace annulus::model {

/// How an element begins: constant, or normal with this deviation.
struct Initial {
  double constant = 0, deviation = 0;
};

/// A named part of a stored tensor, as checkpoints and other programs know it: q, k and v of a fused projection. Parts
/// are whole rows of the stored tensor, one after the other.
struct Tensor {
  std::string name;            ///< "layers.0.attention.q.weight"
  std::vector<index_t> shape;  ///< out x in for projections
  index_t offset = 0;          ///< of the first element in an arena
  index_t count = 0;
  bool decays = false;  ///< weight decay applies
  Initial initial;
  std::uint32_t stream = 0;  ///< of the random numbers that it begins with; the same on any mesh
  int bucket = 0;
};

/// Elements begin .. begin + count - 1 of an arena.
struct Stretch {
  index_t begin = 0, count = 0;
  index_t end() const { return begin + count; }
};
/// What two stretches share; count 0 where they share nothing.
inline Stretch common(Stretch a, Stretch b) {
  const index_t begin = std::max(a.begin, b.begin), end = std::min(a.end(), b.end());
  return {begin, std::max<index_t>(end - begin, 0)};
}

class ParameterTable {
 public:
  explicit ParameterTable(int world) : world_(world) {}

  /// Closes the bucket so far and begins the next one.
  void begin_bucket();
  /// Appends a tensor to the current bucket, at a multiple of 256 B when `aligned` (the parts of fused storage after
  /// the first are not: they follow directly). Returns its offset.
  index_t add(Tensor tensor, bool aligned = true);
  /// Pads the last bucket; after this nothing is added.
  void close();

  const std::vector<Tensor>& tensors() const { return tensors_; }
  /// Throws std::out_of_range for an unknown name.
  const Tensor& tensor(const std::string& name) const;
  const std::vector<Stretch>& buckets() const { return buckets_; }
  int world() const { return world_; }
  /// Elements of an arena, padding included.
  index_t size() const;
  /// Parameters, without padding.
  index_t count() const;
  /// What rank owns of a bucket.
  Stretch owned(int rank, int bucket) const;
  /// What a rank owns altogether: the length of its packed shard, in which its parts of all buckets follow each other.
  index_t shard_size() const { return size() / world_; }
  /// Where the rank's part of a bucket begins in its packed shard.
  index_t shard_offset(int bucket) const;

 private:
  int world_;
  std::vector<Tensor> tensors_;
  std::vector<Stretch> buckets_;
};

}  // namespace annulus::model
