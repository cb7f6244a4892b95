/// token_ids SPEC: for each text on standard input (its length as uint32, then its bytes) writes the ids that a
/// document of it has, without end-of-text (their count as uint32, then int32 each): what tokenizer_reference.py
/// compares.
#include <cstdio>
#include <vector>

#include "core/error.hpp"
#include "io/tokenizer.hpp"

using namespace annulus;

int main(int, char** arguments) {
  try {
    const auto tokenizer = io::make_tokenizer(arguments[1]);
    std::uint32_t length;
    while (std::fread(&length, sizeof length, 1, stdin) == 1) {
      std::string text(length, '\0');
      if (std::fread(text.data(), 1, length, stdin) != length) return 1;
      auto ids = tokenizer->document_start();
      tokenizer->encode(text, ids);
      const auto count = static_cast<std::uint32_t>(ids.size());
      std::fwrite(&count, sizeof count, 1, stdout);
      std::fwrite(ids.data(), sizeof ids[0], ids.size(), stdout);
    }
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
