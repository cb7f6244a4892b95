/// Byte-pair tokenizers: pieces (io/pieces.hpp), merged pair by pair (io/byte_pairs.hpp), each word once as long as it
/// is remembered.
#pragma once
#include <memory>
#include <mutex>

#include "io/byte_pairs.hpp"
#include "io/pieces.hpp"
#include "io/tokenizer.hpp"
#include "io/word_cache.hpp"

namespace annulus::io {

/// A token that stands beside the merges.
struct AddedToken {
  std::int32_t id;
  std::string text;
  bool controls;    ///< text that spells it is not this token
  bool normalized;  ///< looked for in the text after NFC, not before
};

/// All that encode() depends on, as the readers of files (io/byte_pair_files.hpp) find it.
struct BytePairModel {
  std::string name;
  std::vector<std::string> tokens;  ///< bytes by id; empty: none that the merges could make
  /// Tokens whose spelling is no bytes: no text has their ids, which stand for them all the same.
  std::vector<std::pair<std::int32_t, std::string>> not_bytes;
  std::vector<Merge> merges;
  bool whole_pieces = false;
  Pattern pattern = Pattern::gpt2;
  bool nfc = false;
  std::vector<AddedToken> added;
  std::vector<std::int32_t> document_start;
  std::int32_t end_of_text = 0;  ///< one of `added`
  index_t vocabulary = 0;
};

class BytePairTokenizer final : public Tokenizer {
 public:
  /// Throws Refused as BytePairs does, and where a merge makes a control token.
  explicit BytePairTokenizer(BytePairModel model);

  std::string name() const override { return model_.name; }
  index_t vocabulary() const override { return model_.vocabulary; }
  std::int32_t end_of_text() const override { return model_.end_of_text; }
  std::vector<std::int32_t> document_start() const override { return model_.document_start; }
  std::string bytes(std::int32_t id) const override { return bytes_[id]; }
  void encode(std::string_view text, std::vector<std::int32_t>& ids) const override;
  std::size_t last_cut(std::string_view text) const override;
  std::string hash() const override;

 private:
  /// Added tokens that are looked for in the same text.
  struct Finder {
    std::vector<const AddedToken*> tokens;  ///< longest first
    std::array<bool, 256> begins{};         ///< by first byte

    void add(const AddedToken& token);
    const AddedToken* at(std::string_view text, std::size_t place) const;
  };
  class BorrowedCache;

  template <class Section>
  static void split(const Finder& finder, std::string_view text, std::vector<std::int32_t>& ids, Section section);
  void encode_pieces(std::string_view text, WordCache& cache, std::vector<std::int32_t>& ids) const;

  BytePairModel model_;
  BytePairs pairs_;
  PieceEnd piece_end_;
  std::vector<std::string> bytes_;  ///< by id
  Finder before_nfc_, after_nfc_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<WordCache>> caches_;  ///< those that no thread uses now
};

}  // namespace annulus::io
