#include "io/document_batch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "io/small_vocabulary.hpp"

using namespace annulus::io;
using namespace annulus::test;

namespace {

std::string prose(std::size_t bytes, const std::string& word) {
  std::string text;
  for (std::size_t n = 0; text.size() < bytes; ++n) text += n % 17 ? word : word + "\n\n 12";
  return text;
}

}  // namespace

TEST_CASE("document batch: ids are those of whole documents, in order, for any threads and parts", "[io]") {
  const int threads = GENERATE(1, 2, 3);
  const std::size_t step = GENERATE(100'000u, 700'001u, 5'000'000u);
  const ScratchFolder folder;
  Json json = tokenizer_json();
  json["post_processor"] = template_processing({"<|im_start|>"}, {});
  const auto tokenizer = make_tokenizer(spec_of(folder, json));
  const std::string documents[] = {prose(2'000'000, " abab"), "", prose(900'000, "ab! "), std::string(600'000, 'a'),
                                   prose(300'000, "\u6771")};
  Ids expected[2], found[2];
  DocumentBatch batch(*tokenizer, threads, [&](std::span<const std::int32_t> ids, bool validates) {
    found[validates].insert(found[validates].end(), ids.begin(), ids.end());
  });
  bool validates = false;
  for (const std::string& document : documents) {
    Ids& ids = expected[validates];
    ids.push_back(259);
    tokenizer->encode(document, ids);
    ids.push_back(258);
    std::string_view rest = document;
    for (; rest.size() > step; rest.remove_prefix(step)) {
      batch.add(rest.substr(0, step), validates, false);
      if (batch.bytes() > 1'000'000) batch.flush();
    }
    batch.add(rest, validates, true);
    validates = !validates;
  }
  batch.flush();
  CHECK((found[0] == expected[0] && found[1] == expected[1]));
}
