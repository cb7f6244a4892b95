#include "io/byte_pair_tokenizer.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "io/hash.hpp"
#include "io/nfc.hpp"

namespace annulus::io {

class BytePairTokenizer::BorrowedCache {
 public:
  explicit BorrowedCache(const BytePairTokenizer& owner) : owner_(owner) {
    {
      const std::lock_guard lock(owner.mutex_);
      if (!owner.caches_.empty()) {
        cache_ = std::move(owner.caches_.back());
        owner.caches_.pop_back();
      }
    }
    if (!cache_) cache_ = std::make_unique<WordCache>();
  }
  ~BorrowedCache() {
    const std::lock_guard lock(owner_.mutex_);
    owner_.caches_.push_back(std::move(cache_));
  }
  BorrowedCache(const BorrowedCache&) = delete;
  BorrowedCache& operator=(const BorrowedCache&) = delete;

  WordCache& operator*() const { return *cache_; }

 private:
  const BytePairTokenizer& owner_;
  std::unique_ptr<WordCache> cache_;
};

void BytePairTokenizer::Finder::add(const AddedToken& token) {
  const auto place = std::find_if(tokens.begin(), tokens.end(),
                                  [&](const AddedToken* other) { return other->text.size() < token.text.size(); });
  tokens.insert(place, &token);
  begins[static_cast<unsigned char>(token.text[0])] = true;
}

const AddedToken* BytePairTokenizer::Finder::at(std::string_view text, std::size_t place) const {
  if (!begins[static_cast<unsigned char>(text[place])]) return nullptr;
  for (const AddedToken* token : tokens)
    if (text.substr(place).starts_with(token->text)) return token;
  return nullptr;
}

BytePairTokenizer::BytePairTokenizer(BytePairModel model)
    : model_(std::move(model)),
      pairs_(model_.tokens, model_.merges, model_.whole_pieces),
      piece_end_(io::piece_end(model_.pattern)),
      bytes_(model_.tokens) {
  bytes_.resize(model_.vocabulary);
  for (const auto& [id, spelled] : model_.not_bytes) bytes_[id] = spelled;
  for (const AddedToken& token : model_.added) bytes_[token.id] = token.controls ? "" : token.text;
  std::vector<bool> controls(model_.vocabulary);
  for (const AddedToken& token : model_.added) controls[token.id] = token.controls;
  for (const Merge& merge : model_.merges)
    if (controls[merge.merged])
      throw Refused("a merge makes token " + std::to_string(merge.merged) + ", a control token, which no text may");
  const bool any_is_text =
      std::any_of(model_.added.begin(), model_.added.end(), [](const AddedToken& token) { return !token.controls; });
  if (!any_is_text) return;  // nothing to be found: control tokens matter only as what others do not overlap
  for (const AddedToken& token : model_.added) (token.normalized ? after_nfc_ : before_nfc_).add(token);
}

template <class Section>
void BytePairTokenizer::split(const Finder& finder, std::string_view text, std::vector<std::int32_t>& ids,
                              Section section) {
  std::size_t begun = 0;
  if (!finder.tokens.empty())
    for (std::size_t place = 0; place < text.size();) {
      const AddedToken* const token = finder.at(text, place);
      if (!token) {
        ++place;
        continue;
      }
      if (!token->controls) {
        section(text.substr(begun, place - begun));
        ids.push_back(token->id);
        begun = place + token->text.size();
      }
      place += token->text.size();
    }
  section(text.substr(begun));
}

void BytePairTokenizer::encode(std::string_view text, std::vector<std::int32_t>& ids) const {
  const BorrowedCache cache(*this);
  const auto pieces = [&](std::string_view part) { encode_pieces(part, *cache, ids); };
  split(before_nfc_, text, ids, [&](std::string_view section) {
    if (!model_.nfc || surely_nfc(section)) return split(after_nfc_, section, ids, pieces);
    const std::string normalized = nfc(section);
    split(after_nfc_, normalized, ids, pieces);
  });
}

void BytePairTokenizer::encode_pieces(std::string_view text, WordCache& cache, std::vector<std::int32_t>& ids) const {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = piece_end_(text, at), size = end - at;
    if (size > WordCache::longest) {
      pairs_.encode(text.substr(at, size), ids);
    } else if (WordCache::Entry& word = cache(text, at, size); word.count > 0) {
      ids.insert(ids.end(), word.ids.begin(), word.ids.begin() + word.count);
    } else {
      const std::size_t before = ids.size();
      pairs_.encode(text.substr(at, size), ids);
      if (const std::size_t count = ids.size() - before; count <= word.ids.size()) {
        std::copy(ids.end() - static_cast<std::ptrdiff_t>(count), ids.end(), word.ids.begin());
        word.count = static_cast<std::uint8_t>(count);
      }
    }
    at = end;
  }
}

std::size_t BytePairTokenizer::last_cut(std::string_view text) const {
  return model_.pattern == Pattern::none ? 0 : io::last_cut(text);
}

std::string BytePairTokenizer::hash() const {
  ByteHash hash;
  const auto add_number = [&](std::int64_t number) { hash.add(std::as_bytes(std::span(&number, 1))); };
  hash.add_sized(name_of(model_.pattern));
  add_number(model_.nfc + 2 * model_.whole_pieces);
  add_number(model_.vocabulary);
  add_number(model_.end_of_text);
  for (const std::string& token : model_.tokens) hash.add_sized(token);
  for (const auto& [id, spelled] : model_.not_bytes) {
    add_number(id);
    hash.add_sized(spelled);
  }
  for (const auto& [left, right, merged, rank] : model_.merges)
    for (const std::int32_t number : {left, right, merged, rank}) add_number(number);
  for (const AddedToken& token : model_.added) {
    add_number(token.id);
    add_number(token.controls + 2 * token.normalized);
    hash.add_sized(token.text);
  }
  for (const std::int32_t id : model_.document_start) add_number(id);
  return hash.text();
}

}  // namespace annulus::io
