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

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// As a deck and a tokenizer record call it.
  virtual const char* name() const = 0;
  /// Ids lie below this.
  virtual index_t vocabulary() const = 0;
  /// The id that ends a document; encode() never makes it.
  virtual std::int32_t end_of_text() const = 0;
  /// The bytes that an id stands for; nothing for end-of-text.
  virtual std::string bytes(std::int32_t id) const = 0;
  /// Appends the ids of `text`, whatever bytes it holds.
  virtual void encode(std::string_view text, std::vector<std::int32_t>& ids) const = 0;
  /// Throws Refused for an id at or above the vocabulary.
  std::string decode(std::span<const std::int32_t> ids) const;
  /// Of the bytes of all ids, in order: two tokenizers with one hash decode alike.
  std::string hash() const;
};

/// "byte"; others are refused by name.
std::unique_ptr<Tokenizer> make_tokenizer(const std::string& name);

}  // namespace annulus::io
