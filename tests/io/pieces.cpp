#include "io/pieces.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <random>
#include <vector>

using namespace annulus::io;

namespace {

std::string split(Pattern pattern, const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = piece_end(pattern)(text, at);
    REQUIRE(end > at);
    REQUIRE(end <= text.size());
    out += (at ? "|" : "") + text.substr(at, end - at);
    at = end;
  }
  return out;
}

/// Of the parts that patterns tell apart, ill-formed UTF-8 among them.
std::string random_text(std::mt19937_64& draw) {
  static const std::vector<std::string> parts{" ",          "  ",  "\n",     "\r\n",    "\t",       "\u00a0",  "\u2028",
                                              "\ufeff",     "a",   "Bc",     "WORD",    "'s",       "'LL",     "1",
                                              "23",         "456", "\u00e9", "e\u0301", "\u0301",   "\u6771",  "\u02b0",
                                              "\U0001F642", "!?",  "/",      "\xff",    "\xe6\x9d", "\xc0\x80"};
  std::string text;
  for (auto count = draw() % 30; count > 0; --count) text += parts[draw() % parts.size()];
  return text;
}

}  // namespace

// Expected: the module `regex` of Python (2026.11.19) with the published expressions, "|" between the matches.
TEST_CASE("pieces: the published expressions", "[io]") {
  const struct {
    const char *text, *gpt2, *cl100k, *llama3, *qwen2, *o200k;
  } cases[] = {
      {"Hello world", "Hello| world", "Hello| world", "Hello| world", "Hello| world", "Hello| world"},
      {"  leading two spaces", " | leading| two| spaces", " | leading| two| spaces", " | leading| two| spaces",
       " | leading| two| spaces", " | leading| two| spaces"},
      {"a\n\n\nb", "a|\n\n|\n|b", "a|\n\n\n|b", "a|\n\n\n|b", "a|\n\n\n|b", "a|\n\n\n|b"},
      {"trailing  ", "trailing|  ", "trailing|  ", "trailing|  ", "trailing|  ", "trailing|  "},
      {"I'll don't we've", "I|'ll| don|'t| we|'ve", "I|'ll| don|'t| we|'ve", "I|'ll| don|'t| we|'ve",
       "I|'ll| don|'t| we|'ve", "I'll| don't| we've"},
      {"'S 'LL x'Sy", "'|S| '|LL| x|'|Sy", "'S| '|LL| x|'S|y", "'S| '|LL| x|'S|y", "'S| '|LL| x|'S|y",
       "'S| '|LL| x'S|y"},
      {"x'\305\277y", "x|'|\305\277y", "x|'\305\277|y", "x|'\305\277|y", "x|'\305\277|y", "x'\305\277|y"},
      {"1234567890 3.14159", "1234567890| 3|.|14159", "123|456|789|0| |3|.|141|59", "123|456|789|0| |3|.|141|59",
       "1|2|3|4|5|6|7|8|9|0| |3|.|1|4|1|5|9", "123|456|789|0| |3|.|141|59"},
      {"\t\tx = 1;\r\n", "\t|\t|x| =| 1|;|\r\n", "\t|\tx| =| |1|;\r\n", "\t|\tx| =| |1|;\r\n", "\t|\tx| =| |1|;\r\n",
       "\t|\tx| =| |1|;\r\n"},
      {"x\302\240y", "x|\302\240|y", "x|\302\240y", "x|\302\240y", "x|\302\240y", "x|\302\240y"},
      {"x \302\240y", "x| |\302\240|y", "x| |\302\240y", "x| |\302\240y", "x| |\302\240y", "x| |\302\240y"},
      {"\342\200\250z", "\342\200\250|z", "\342\200\250z", "\342\200\250z", "\342\200\250z", "\342\200\250z"},
      {"\357\273\277BOM", "\357\273\277|BOM", "\357\273\277BOM", "\357\273\277BOM", "\357\273\277BOM",
       "\357\273\277BOM"},
      {"a\302\205b", "a|\302\205|b", "a|\302\205b", "a|\302\205b", "a|\302\205b", "a|\302\205b"},
      {"a\341\240\216b", "a|\341\240\216|b", "a|\341\240\216b", "a|\341\240\216b", "a|\341\240\216b",
       "a|\341\240\216b"},
      {"   ", "   ", "   ", "   ", "   ", "   "},
      {"a \n  ", "a| \n  ", "a| \n  ", "a| \n|  ", "a| \n|  ", "a| \n|  "},
      {"a \n  b", "a| \n | b", "a| \n| | b", "a| \n| | b", "a| \n| | b", "a| \n| | b"},
      {"\r\n\r\n  x", "\r\n\r\n | x", "\r\n\r\n| | x", "\r\n\r\n| | x", "\r\n\r\n| | x", "\r\n\r\n| | x"},
      {"camelCaseWORDs", "camelCaseWORDs", "camelCaseWORDs", "camelCaseWORDs", "camelCaseWORDs", "camel|Case|WORDs"},
      {"WORLDs\312\260Abc", "WORLDs\312\260Abc", "WORLDs\312\260Abc", "WORLDs\312\260Abc", "WORLDs\312\260Abc",
       "WORLDs\312\260|Abc"},
      {"\346\235\261ABC", "\346\235\261ABC", "\346\235\261ABC", "\346\235\261ABC", "\346\235\261ABC",
       "\346\235\261|ABC"},
      {"e\314\201a\314\201\314\201", "e|\314\201|a|\314\201\314\201", "e|\314\201a|\314\201\314\201",
       "e|\314\201a|\314\201\314\201", "e|\314\201a|\314\201\314\201", "e\314\201a\314\201\314\201"},
      {"!\314\201a", "!\314\201|a", "!\314\201|a", "!\314\201|a", "!\314\201|a", "!\314\201a"},
      {"...//\n/x", "...//|\n|/|x", "...//\n|/x", "...//\n|/x", "...//\n|/x", "...//\n/|x"},
      {"...\n\n", "...|\n\n", "...\n\n", "...\n\n", "...\n\n", "...\n\n"},
      {"\302\275\331\243123", "\302\275\331\243123", "\302\275\331\2431|23", "\302\275\331\2431|23",
       "\302\275|\331\243|1|2|3", "\302\275\331\2431|23"},
      {"na\303\257ve caf\303\251 \346\235\261\344\272\254 \360\237\231\202",
       "na\303\257ve| caf\303\251| \346\235\261\344\272\254| \360\237\231\202",
       "na\303\257ve| caf\303\251| \346\235\261\344\272\254| \360\237\231\202",
       "na\303\257ve| caf\303\251| \346\235\261\344\272\254| \360\237\231\202",
       "na\303\257ve| caf\303\251| \346\235\261\344\272\254| \360\237\231\202",
       "na\303\257ve| caf\303\251| \346\235\261\344\272\254| \360\237\231\202"},
      {"a.b,c", "a|.|b|,|c", "a|.b|,c", "a|.b|,c", "a|.b|,c", "a|.b|,c"},
      {"\034x", "\034|x", "\034x", "\034x", "\034x", "\034x"},
      {"foo   bar", "foo|  | bar", "foo|  | bar", "foo|  | bar", "foo|  | bar", "foo|  | bar"},
      {"\307\205x\307\205", "\307\205x\307\205", "\307\205x\307\205", "\307\205x\307\205", "\307\205x\307\205",
       "\307\205x|\307\205"},
      {"A'SB", "A|'|SB", "A|'S|B", "A|'S|B", "A|'S|B", "A'S|B"},
      {"\314\201\314\201", "\314\201\314\201", "\314\201\314\201", "\314\201\314\201", "\314\201\314\201",
       "\314\201\314\201"},
      {"_name2", "_|name|2", "_name|2", "_name|2", "_name|2", "_name|2"},
      {"#!/bin", "#!/|bin", "#!/|bin", "#!/|bin", "#!/|bin", "#!/|bin"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.text);
    CHECK(split(Pattern::gpt2, each.text) == each.gpt2);
    CHECK(split(Pattern::cl100k, each.text) == each.cl100k);
    CHECK(split(Pattern::llama3, each.text) == each.llama3);
    CHECK(split(Pattern::qwen2, each.text) == each.qwen2);
    CHECK(split(Pattern::o200k, each.text) == each.o200k);
    CHECK(split(Pattern::none, each.text) == each.text);
  }
}

TEST_CASE("pieces: text may be cut at last_cut, whatever follows", "[io]") {
  const auto pattern = GENERATE(Pattern::gpt2, Pattern::cl100k, Pattern::llama3, Pattern::qwen2, Pattern::o200k);
  std::mt19937_64 draw(7);
  int cut = 0;
  for (int n = 0; n < 20000; ++n) {
    const std::string window = random_text(draw), whole = window + random_text(draw);
    const std::size_t at = last_cut(window);
    if (at == 0) continue;
    ++cut;
    const std::string parts = split(pattern, whole.substr(0, at)) + "|" + split(pattern, whole.substr(at));
    if (parts != split(pattern, whole)) FAIL(parts << " is not " << split(pattern, whole));
  }
  CHECK(cut > 5000);
  CHECK(last_cut("") == 0);
  CHECK(last_cut("word") == 0);
  CHECK(last_cut("one two") == 3);
  CHECK(last_cut("\u6771\n ") == 3);
  CHECK(last_cut("one  ! ") == 3);
}
