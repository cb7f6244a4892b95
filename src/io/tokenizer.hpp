/// Text to token ids and back.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace annulus::io {

/// Its methods may be called by several threads at a time.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// What make_tokenizer() makes it from again.
  virtual std::string name() const = 0;
  /// Ids lie below this.
  virtual index_t vocabulary() const = 0;
  /// The id that ends a document; encode() never makes it.
  virtual std::int32_t end_of_text() const = 0;
  /// The ids that a document begins with, before those of its text.
  virtual std::vector<std::int32_t> document_start() const { return {}; }
  /// The bytes that an id stands for; nothing for end-of-text and other tokens that control a model.
  virtual std::string bytes(std::int32_t id) const = 0;
  /// Appends the ids of `text`, whatever bytes it holds. What spells a control token is text like any other.
  virtual void encode(std::string_view text, std::vector<std::int32_t>& ids) const = 0;
  /// The last place at which `text` may be cut so that the ids of its parts are those of the whole, whatever follows
  /// the text. 0: there is none.
  virtual std::size_t last_cut(std::string_view text) const = 0;
  /// Two tokenizers with one hash encode and decode alike.
  virtual std::string hash() const = 0;

  /// Throws Refused for an id outside the vocabulary.
  std::string decode(std::span<const std::int32_t> ids) const;
};

/// What `--tokenizer` of commands takes.
constexpr const char* tokenizer_specs = "byte, gpt2:DIR, hf:FILE or tiktoken:FILE[:PATTERN]";

/// byte            ids 0 to 255 are bytes, 256 ends a document
/// gpt2:DIR        GPT-2's vocab.bpe and encoder.json
/// hf:FILE         a tokenizer.json with byte-level BPE; hf:FILE:TOKEN says which added token ends a document
/// tiktoken:FILE   with the pattern gpt2, cl100k, o200k or llama3, which vocabularies of known sizes need not name
/// Throws Refused in one sentence for another spec, and for a file that cannot be read or
/// asks for something that encode() would not do.
std::unique_ptr<Tokenizer> make_tokenizer(const std::string& spec);

}  // namespace annulus::io
