/// Unicode's normalization form C of UTF-8 text (UAX 15), as the library `tokenizers` has it: characters that came
/// after Unicode 9.0 stay as they are, and so do bytes that are no UTF-8.
#pragma once
#include <string>
#include <string_view>

namespace annulus::io {

/// Whether `text` holds nothing that could change: no character from U+0300 on.
bool surely_nfc(std::string_view text);
std::string nfc(std::string_view text);

}  // namespace annulus::io
