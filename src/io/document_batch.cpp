#include "io/document_batch.hpp"

#include <atomic>
#include <cassert>
#include <future>

namespace annulus::io {

namespace {

constexpr std::size_t part_bytes = std::size_t{256} * 1024;  // small beside a batch, so that threads end together

/// Where to cut about `part_bytes` off the front of `text`; 0: nowhere.
std::size_t first_cut(const Tokenizer& tokenizer, std::string_view text) {
  for (std::size_t window = part_bytes;; window *= 2) {
    if (const std::size_t at = tokenizer.last_cut(text.substr(0, window)); at > 0 || window >= text.size()) return at;
  }
}

}  // namespace

DocumentBatch::DocumentBatch(const Tokenizer& tokenizer, int threads, Sink sink)
    : tokenizer_(tokenizer), threads_(threads), sink_(std::move(sink)) {
  assert(threads > 0);
}

void DocumentBatch::close_part(std::size_t size, bool validates, bool ends) {
  parts_.push_back({document_.substr(0, size), validates, !begun_, ends, {}});
  document_.erase(0, size);
  begun_ = !ends;
}

void DocumentBatch::add(std::string_view text, bool validates, bool ends) {
  bytes_ += text.size();
  document_ += text;
  while (document_.size() > part_bytes) {
    const std::size_t at = first_cut(tokenizer_, document_);
    if (at == 0) break;
    close_part(at, validates, false);
  }
  if (ends) close_part(document_.size(), validates, true);
}

void DocumentBatch::encode(Part& part) const {
  part.ids.reserve(part.text.size() / 3);
  if (part.begins) part.ids = tokenizer_.document_start();
  tokenizer_.encode(part.text, part.ids);
  if (part.ends) part.ids.push_back(tokenizer_.end_of_text());
}

void DocumentBatch::flush() {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t n = next++; n < parts_.size(); n = next++) encode(parts_[n]);
  };
  std::vector<std::future<void>> others;
  for (int n = 1; n < threads_; ++n) others.push_back(std::async(std::launch::async, work));
  work();
  for (auto& other : others) other.get();
  for (const Part& part : parts_) sink_(part.ids, part.validates);
  parts_.clear();
  bytes_ = 0;
}

}  // namespace annulus::io
