#include "comm/ordered_reduction.hpp"

#include <algorithm>
#include <cassert>

#include "comm/parts.hpp"
#include "comm/reduction.hpp"

namespace annulus::comm {

namespace {

constexpr index_t slice_bytes = index_t(1) << 20;
constexpr index_t small_bytes = index_t(1) << 14;  // up to here, one exchange of everything beats two of parts

std::byte* at(void* data, index_t offset) { return static_cast<std::byte*>(data) + offset; }
const std::byte* at(const void* data, index_t offset) { return static_cast<const std::byte*>(data) + offset; }

/// Everyone sends everything to everyone, and sums it all.
class SmallAllReduce : public Operation {
 public:
  SmallAllReduce(std::shared_ptr<Group> group, Values values, Reduction reduction, int tag)
      : Operation(std::move(group), "all_reduce"), values_(values), reduction_(reduction), tag_(tag) {
    touches(values);
  }

 private:
  void advance() override {
    const int ranks = group().size;
    if (!received_.empty()) return sum();
    received_.resize(ranks * values_.bytes() + 1);
    for (int r = 0; r < ranks; ++r) {
      if (r == group().rank) continue;
      receive(at(received_.data(), r * values_.bytes()), values_.bytes(), r, tag_);
      send(values_.data, values_.bytes(), r, tag_);
    }
  }

  void sum() {
    std::vector<const void*> terms;
    terms.reserve(group().size);
    for (int r = 0; r < group().size; ++r)
      terms.push_back(r == group().rank ? values_.data : at(received_.data(), r * values_.bytes()));
    reduce_in_order(values_.type, reduction_, terms, values_.data, values_.count);
  }

  Values values_;
  Reduction reduction_;
  int tag_;
  std::vector<std::byte> received_;
};

/// Slice by slice: the parts' terms to the ranks that sum them, then, in an all-reduce, the sums to everyone.
class PartwiseReduction : public Operation {
 public:
  PartwiseReduction(std::shared_ptr<Group> group, const char* name, ConstValues all, Values own, Reduction reduction,
                    bool return_sums, int tag)
      : Operation(std::move(group), name),
        all_(all),
        own_(own),
        reduction_(reduction),
        return_sums_(return_sums),
        tag_(tag),
        parts_{all.count, this->group().size},
        slice_(slice_bytes / size_of(all.type)),
        slices_((parts_.size(0) + slice_ - 1) / slice_),
        received_(index_t(this->group().size) * std::min(slice_, parts_.size(0)) * size_of(all.type)) {
    touches(all);
    touches(own);
  }

 private:
  void advance() override {
    if (summing_) {
      sum();
      summing_ = false;
      if (return_sums_) return exchange_sums();
    }
    if (next_ == slices_) return;
    exchange_terms();
    summing_ = true;
    ++next_;
  }

  /// The values of part r in slice s.
  index_t slice_size(int r, index_t s) const { return std::clamp<index_t>(parts_.size(r) - s * slice_, 0, slice_); }
  index_t bytes(index_t count) const { return count * size_of(all_.type); }
  const std::byte* term(int part, index_t s) const { return at(all_.data, bytes(parts_.begin(part) + s * slice_)); }
  std::byte* received(int from) { return at(received_.data(), from * bytes(std::min(slice_, parts_.size(0)))); }

  void exchange_terms() {
    for (int r = 0; r < group().size; ++r) {
      if (r == group().rank) continue;
      receive(received(r), bytes(slice_size(group().rank, next_)), r, tag_);
      send(term(r, next_), bytes(slice_size(r, next_)), r, tag_);
    }
  }

  void sum() {
    const int me = group().rank;
    const index_t s = next_ - 1;
    std::vector<const void*> terms;
    terms.reserve(group().size);
    for (int r = 0; r < group().size; ++r) terms.push_back(r == me ? term(me, s) : received(r));
    reduce_in_order(own_.type, reduction_, terms, at(own_.data, bytes(s * slice_)), slice_size(me, s));
  }

  void exchange_sums() {
    const int me = group().rank;
    const index_t s = next_ - 1;
    std::byte* const values = at(own_.data, -bytes(parts_.begin(me)));  // in place: own is part `me` of them
    for (int r = 0; r < group().size; ++r) {
      if (r == me) continue;
      receive(at(values, bytes(parts_.begin(r) + s * slice_)), bytes(slice_size(r, s)), r, tag_ + 1);
      send(at(own_.data, bytes(s * slice_)), bytes(slice_size(me, s)), r, tag_ + 1);
    }
  }

  ConstValues all_;
  Values own_;
  Reduction reduction_;
  bool return_sums_;
  int tag_;
  Parts parts_;
  index_t slice_, slices_;
  std::vector<std::byte> received_;  ///< a slice from each rank
  index_t next_ = 0;                 ///< slices whose terms were exchanged
  bool summing_ = false;             ///< the terms of slice next_ - 1 wait to be summed
};

}  // namespace

std::shared_ptr<Operation> ordered_reduce_scatter(std::shared_ptr<Group> group, ConstValues parts, Values own,
                                                  int tag) {
  assert(parts.count == group->size * own.count && parts.type == own.type);
  return std::make_shared<PartwiseReduction>(std::move(group), "reduce_scatter", parts, own, Reduction::sum, false,
                                             tag);
}

std::shared_ptr<Operation> ordered_all_reduce(std::shared_ptr<Group> group, Values values, Reduction reduction,
                                              int tag) {
  if (values.bytes() <= small_bytes) return std::make_shared<SmallAllReduce>(std::move(group), values, reduction, tag);
  const Parts parts{values.count, group->size};
  const Values own{at(values.data, parts.begin(group->rank) * size_of(values.type)), parts.size(group->rank),
                   values.type};
  return std::make_shared<PartwiseReduction>(std::move(group), "all_reduce", values, own, reduction, true, tag);
}

}  // namespace annulus::comm
