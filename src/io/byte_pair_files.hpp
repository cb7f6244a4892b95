/// The files that published byte-pair tokenizers come in. What encode() would not do exactly as the reference does is
/// refused by its name in the file; so is whatever makes no sense. All throw Refused in one sentence.
#pragma once
#include <filesystem>

#include "io/byte_pair_tokenizer.hpp"

namespace annulus::io {

/// GPT-2's vocab.bpe and encoder.json (also as merges.txt and vocab.json, or gpt2-vocab.bpe and gpt2-encoder.json).
BytePairModel read_gpt2_files(const std::filesystem::path& folder);

/// Hugging Face's tokenizer.json with a byte-level BPE. `end_of_text` is the added token that ends a document; empty:
/// the usual one, "<|endoftext|>" or "<|end_of_text|>".
BytePairModel read_tokenizer_json(const std::filesystem::path& file, const std::string& end_of_text);

/// tiktoken's lines of base64 and rank. `pattern` is "gpt2", "cl100k", "o200k" or "llama3"; empty: the one whose
/// published vocabulary has as many ranks. Control tokens have their published ids, or in a vocabulary of another size
/// come after the ranks.
BytePairModel read_tiktoken_file(const std::filesystem::path& file, const std::string& pattern);

}  // namespace annulus::io
