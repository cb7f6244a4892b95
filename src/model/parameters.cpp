#include "model/parameters.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>

namespace annulus::model {

namespace {

/// Elements that take a multiple of 256 B in every arena: the narrowest type has 2 bytes.
constexpr index_t grain = 128;

index_t rounded_up(index_t value, index_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

void ParameterTable::begin_bucket() {
  close();
  buckets_.push_back({size(), 0});
}

index_t ParameterTable::add(Tensor tensor, bool aligned) {
  assert(!buckets_.empty() && tensor.count > 0);
  Stretch& bucket = buckets_.back();
  tensor.offset = aligned ? rounded_up(bucket.end(), grain) : bucket.end();
  tensor.stream = static_cast<std::uint32_t>(tensors_.size());
  tensor.bucket = static_cast<int>(buckets_.size()) - 1;
  bucket.count = tensor.offset + tensor.count - bucket.begin;
  tensors_.push_back(std::move(tensor));
  return tensors_.back().offset;
}

void ParameterTable::close() {
  if (!buckets_.empty()) buckets_.back().count = rounded_up(buckets_.back().count, grain * world_);
}

const Tensor& ParameterTable::tensor(const std::string& name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(), [&](const Tensor& t) { return t.name == name; });
  if (found == tensors_.end()) throw std::out_of_range("no parameter is called " + name);
  return *found;
}

index_t ParameterTable::size() const { return buckets_.empty() ? 0 : buckets_.back().end(); }

index_t ParameterTable::count() const {
  index_t sum = 0;
  for (const Tensor& tensor : tensors_) sum += tensor.count;
  return sum;
}

Stretch ParameterTable::owned(int rank, int bucket) const {
  const index_t part = buckets_[bucket].count / world_;
  return {buckets_[bucket].begin + rank * part, part};
}

index_t ParameterTable::shard_offset(int bucket) const { return buckets_[bucket].begin / world_; }

}  // namespace annulus::model
