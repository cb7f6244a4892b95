#include "io/tokenizer.hpp"

#include "core/error.hpp"
#include "io/hash.hpp"

namespace annulus::io {

namespace {

/// Ids 0 .. 255 are the bytes, 256 ends a document: exact for any text in any encoding.
class ByteTokenizer final : public Tokenizer {
 public:
  const char* name() const override { return "byte"; }
  index_t vocabulary() const override { return 257; }
  std::int32_t end_of_text() const override { return 256; }
  std::string bytes(std::int32_t id) const override {
    return id == end_of_text() ? std::string() : std::string(1, static_cast<char>(id));
  }
  void encode(std::string_view text, std::vector<std::int32_t>& ids) const override {
    ids.reserve(ids.size() + text.size());
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  }
};

}  // namespace

std::string Tokenizer::decode(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids) {
    if (id < 0 || id >= vocabulary())
      throw Refused("token id " + std::to_string(id) + " is not in the vocabulary of the " + name() +
                    " tokenizer, 0 to " + std::to_string(vocabulary() - 1));
    text += bytes(id);
  }
  return text;
}

std::string Tokenizer::hash() const {
  ByteHash hash;
  for (std::int32_t id = 0; id < vocabulary(); ++id) {
    const std::string token = bytes(id);
    const std::uint32_t length = static_cast<std::uint32_t>(token.size());  // so that no two vocabularies run together
    hash.add(std::as_bytes(std::span(&length, 1)));
    hash.add(std::as_bytes(std::span(token)));
  }
  return hash.text();
}

std::unique_ptr<Tokenizer> make_tokenizer(const std::string& name) {
  if (name == "byte") return std::make_unique<ByteTokenizer>();
  throw Refused("there is no tokenizer \"" + name + "\"; \"byte\" is the one that exists");
}

}  // namespace annulus::io
