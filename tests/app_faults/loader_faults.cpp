#include "app_faults/loader_faults.hpp"

#include <utility>

namespace annulus::test {

namespace {

class AlteredLoader final : public io::Loader {
 public:
  AlteredLoader(std::unique_ptr<io::Loader> inner, AlterBatch alter) : inner_(std::move(inner)), alter_(alter) {}
  index_t sequence_length() const override { return inner_->sequence_length(); }
  index_t vocabulary() const override { return inner_->vocabulary(); }
  index_t samples_per_epoch() const override { return inner_->samples_per_epoch(); }
  io::Sample sample(index_t g) const override { return inner_->sample(g); }
  index_t valid_tokens(index_t g) const override { return inner_->valid_tokens(g); }
  cp::LocalBatch batch(index_t first, index_t rows, const cp::SequenceLayout& layout, int rank) const override {
    cp::LocalBatch batch = inner_->batch(first, rows, layout, rank);
    alter_(batch);
    return batch;
  }
  std::string fingerprint() const override { return inner_->fingerprint(); }

 private:
  std::unique_ptr<io::Loader> inner_;
  AlterBatch alter_;
};

}  // namespace

std::unique_ptr<io::Loader> with_altered_batch(std::unique_ptr<io::Loader> loader, AlterBatch alter) {
  return std::make_unique<AlteredLoader>(std::move(loader), alter);
}

void shift_labels_after_the_split(cp::LocalBatch& batch) {
  const index_t tokens = batch.tokens_per_row;
  for (index_t n = 0; n < batch.rows * tokens; ++n)
    batch.labels[n] = n % tokens == tokens - 1 ? ignored_label : batch.tokens[n + 1];
}

void count_positions_on_the_rank(cp::LocalBatch& batch) {
  for (index_t n = 0; n < batch.rows * batch.tokens_per_row; ++n) batch.positions[n] = n % batch.tokens_per_row;
}

}  // namespace annulus::test
