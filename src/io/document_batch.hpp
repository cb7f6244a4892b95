/// Documents on their way to token ids: cut where the tokenizer allows it, encoded by several threads, handed on in
/// order.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/tokenizer.hpp"

namespace annulus::io {

class DocumentBatch {
 public:
  /// Hears the ids of a part of a document, in the order in which documents came.
  using Sink = std::function<void(std::span<const std::int32_t> ids, bool validates)>;

  DocumentBatch(const Tokenizer& tokenizer, int threads, Sink sink);

  /// The next part of a document; `ends` with the last one, whose ids are closed by end-of-text.
  void add(std::string_view text, bool validates, bool ends);
  /// Text added since flush(), in bytes.
  std::size_t bytes() const { return bytes_; }
  /// Encodes what was added, but for the end of a document under way that what follows may change.
  void flush();

 private:
  struct Part {
    std::string text;
    bool validates, begins, ends;
    std::vector<std::int32_t> ids;
  };
  /// Moves the first `size` bytes of the document under way to the parts.
  void close_part(std::size_t size, bool validates, bool ends);
  void encode(Part& part) const;

  const Tokenizer& tokenizer_;
  int threads_;
  Sink sink_;
  std::vector<Part> parts_;
  std::string document_;  ///< what of the document under way is in no part yet
  bool begun_ = false;    ///< the document under way has a part already
  std::size_t bytes_ = 0;
};

}  // namespace annulus::io
