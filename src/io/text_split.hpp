/// Which stretches of a text train and which validate. Stretches alternate along all files, so that both sets have the
/// same mix of files, topics and positions within a file; a tail of each file would hold only endings, and a tail of
/// all files only the last of them.
#pragma once
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace annulus::io {

class TextSplit {
 public:
  /// Of `bytes` in all, `fraction` (0 to 0.5) validates, in stretches of at most 64 KiB and at least eight of them.
  TextSplit(index_t bytes, double fraction);

  /// How far behind a stretch's place next() may look for the end of a line.
  static constexpr std::size_t look_ahead = 4096;

  struct Part {
    std::string_view text;
    bool validates;
    bool ends;  ///< the stretch, which may come in several parts
  };
  /// The next part of a file whose unread text begins with `text`: more than `look_ahead` bytes of it, or all where
  /// `last`. Stretches end with their file, and after the end of a line where one is near.
  Part next(std::string_view text, bool last);

 private:
  index_t stretch_, period_, at_ = 0;
};

}  // namespace annulus::io
