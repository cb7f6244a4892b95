#include <algorithm>
#include <cassert>

#include "core/error.hpp"
#include "core/text.hpp"
#include "io/loader.hpp"
#include "io/permutation.hpp"
#include "io/token_shards.hpp"

namespace annulus::io {

namespace {

/// Window w is tokens wT .. (w + 1)T of the stream: neighbours share one token, which is the last label of the first
/// and the first input of the second, so that every token but the stream's first is predicted once an epoch.
class ShardLoader final : public Loader {
 public:
  ShardLoader(const std::string& path, const char* split, const DataKeys& keys, const RowRules& rules,
              std::uint64_t seed, bool shuffle)
      : stream_(path, split),
        length_(keys.sequence_length),
        documents_(keys.pack == "documents"),
        rules_(rules),
        seed_(seed),
        shuffle_(shuffle),
        windows_((stream_.tokens() - 1) / length_) {
    if (windows_ < 1)
      throw Refused(text(path, " holds ", stream_.tokens(), " ", split,
                         " tokens, fewer than one sequence needs: ", length_, " and one more as the last label"));
  }

  index_t sequence_length() const override { return length_; }
  index_t vocabulary() const override { return stream_.vocabulary(); }
  index_t samples_per_epoch() const override { return windows_; }

  Sample sample(index_t g) const override {
    const index_t epoch = g / windows_, place = g % windows_;
    const index_t window = shuffle_ ? permuted(place, windows_, seed_, epoch) : place;
    Sample sample{.tokens = std::vector<std::int32_t>(length_ + 1), .document_begins = {0}};
    stream_.read(window * length_, sample.tokens);
    if (documents_)
      for (index_t order = 1; order <= length_; ++order)
        if (sample.tokens[order - 1] == stream_.end_of_text()) sample.document_begins.push_back(order);
    return sample;
  }

  index_t valid_tokens(index_t g) const override {
    if (!documents_) return length_;
    return length_ - (index_t(sample(g).document_begins.size()) - 1);  // the label of each end-of-text is dropped
  }

  cp::LocalBatch batch(index_t first, index_t rows, const cp::SequenceLayout& layout, int rank) const override {
    assert(layout.length() == length_);
    std::vector<Sample> samples;
    for (index_t row = 0; row < rows; ++row) samples.push_back(sample(first + row));
    return local_batch(samples, rules_, layout, rank);
  }

  std::string fingerprint() const override { return stream_.fingerprint(); }

 private:
  TokenStream stream_;
  index_t length_;
  bool documents_;
  RowRules rules_;
  std::uint64_t seed_;
  bool shuffle_;
  index_t windows_;
};

}  // namespace

std::unique_ptr<Loader> shard_loader(const std::string& path, const char* split, const DataKeys& keys,
                                     const RowRules& rules, std::uint64_t seed, bool shuffle) {
  return std::make_unique<ShardLoader>(path, split, keys, rules, seed, shuffle);
}

}  // namespace annulus::io
