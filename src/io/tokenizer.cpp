#include "io/tokenizer.hpp"

#include <filesystem>

#include "core/error.hpp"
#include "core/text.hpp"
#include "io/byte_pair_files.hpp"
#include "io/byte_pair_tokenizer.hpp"
#include "io/hash.hpp"

namespace annulus::io {

namespace {

namespace fs = std::filesystem;

/// Ids 0 .. 255 are the bytes, 256 ends a document: exact for any text in any encoding.
class ByteTokenizer final : public Tokenizer {
 public:
  std::string name() const override { return "byte"; }
  index_t vocabulary() const override { return 257; }
  std::int32_t end_of_text() const override { return 256; }
  std::string bytes(std::int32_t id) const override {
    return id == end_of_text() ? std::string() : std::string(1, static_cast<char>(id));
  }
  void encode(std::string_view text, std::vector<std::int32_t>& ids) const override {
    ids.reserve(ids.size() + text.size());
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  }
  std::size_t last_cut(std::string_view text) const override { return text.size(); }
  std::string hash() const override {
    ByteHash hash;
    for (std::int32_t id = 0; id < vocabulary(); ++id) hash.add_sized(bytes(id));
    return hash.text();
  }
};

/// FILE:REST where that is meant: a colon may also stand in a file's name.
struct FileAnd {
  fs::path file;
  std::string rest;
};
FileAnd file_and_rest(const std::string& given) {
  const auto colon = given.rfind(':');
  if (colon == std::string::npos || fs::exists(given)) return {given, ""};
  return {given.substr(0, colon), given.substr(colon + 1)};
}

}  // namespace

std::string Tokenizer::decode(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids) {
    if (id < 0 || id >= vocabulary())
      throw Refused("token id " + std::to_string(id) + " is not in the vocabulary of the tokenizer " + name() +
                    ", 0 to " + std::to_string(vocabulary() - 1));
    text += bytes(id);
  }
  return text;
}

std::unique_ptr<Tokenizer> make_tokenizer(const std::string& spec) {
  if (spec == "byte") return std::make_unique<ByteTokenizer>();
  const auto colon = spec.find(':');
  const std::string kind = spec.substr(0, colon);
  const bool known = kind == "gpt2" || kind == "hf" || kind == "tiktoken";
  if (!known || colon == std::string::npos || colon + 1 == spec.size())
    throw Refused(text("there is no tokenizer \"", spec, "\"; there is ", tokenizer_specs));
  const std::string given = spec.substr(colon + 1);
  auto [file, rest] = kind == "gpt2" ? FileAnd{given, ""} : file_and_rest(given);
  file = fs::weakly_canonical(fs::absolute(file));
  BytePairModel model = kind == "gpt2" ? read_gpt2_files(file)
                        : kind == "hf" ? read_tokenizer_json(file, rest)
                                       : read_tiktoken_file(file, rest);
  model.name = kind + ":" + file.string() + (rest.empty() ? "" : ":" + rest);
  try {
    return std::make_unique<BytePairTokenizer>(std::move(model));
  } catch (const Refused& refused) {
    throw Refused(file.string() + ": " + refused.what());
  }
}

}  // namespace annulus::io
