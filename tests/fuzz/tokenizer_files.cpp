/// A libFuzzer target: the first byte chooses a tokenizer.json, a tiktoken file or a vocab.bpe, the rest is the file.
/// What is not refused must encode: any bytes come back, and cut text has the ids of the whole. tests/fuzz/run says how
/// to use it.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "io/byte_pair_files.hpp"
#include "io/small_vocabulary.hpp"

using namespace annulus;
using namespace annulus::io;

namespace {

void require(bool true_of_it, const char* what) {
  if (true_of_it) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

const std::filesystem::path& folder() {
  static const std::filesystem::path path = [] {
    const auto made = std::filesystem::temp_directory_path() / ("annulus-fuzz-" + std::to_string(getpid()));
    std::filesystem::create_directories(made);
    auto vocabulary = test::alphabet();
    vocabulary["ab"] = 256;
    vocabulary["<|endoftext|>"] = 257;
    std::ofstream(made / "encoder.json") << vocabulary.dump();
    return made;
  }();
  return path;
}

BytePairModel model_of(int kind, const std::string& content) {
  const auto file = folder() / (kind == 2 ? "vocab.bpe" : "file");
  std::ofstream(file, std::ios::binary) << content;
  return kind == 0   ? read_tokenizer_json(file, "")
         : kind == 1 ? read_tiktoken_file(file, "cl100k")
                     : read_gpt2_files(folder());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    BytePairModel model = model_of(data[0] % 3, std::string(reinterpret_cast<const char*>(data + 1), size - 1));
    const bool normalizes = model.nfc;
    const BytePairTokenizer tokenizer(std::move(model));
    const std::string text =
        "ab abc <think> it's 12345\n\n  \xff \xe2\x80 na\u00efve \u6771\u4eac " + std::string(100, 'a') + " end";
    std::vector<std::int32_t> whole, parts;
    tokenizer.encode(text, whole);
    require(normalizes || tokenizer.decode(whole) == text, "text does not come back");
    const std::size_t cut = tokenizer.last_cut(text);
    tokenizer.encode(text.substr(0, cut), parts);
    tokenizer.encode(text.substr(cut), parts);
    require(parts == whole, "cut text has other ids");
    for (const std::int32_t id : whole) require(id >= 0 && id < tokenizer.vocabulary(), "an id above the vocabulary");
    require(!tokenizer.hash().empty(), "no hash");
  } catch (const Refused&) {
  }
  return 0;
}
