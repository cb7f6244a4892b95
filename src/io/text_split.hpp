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

  struct Stretch {
    std::string_view text;
    bool validates;
  };
  /// The stretches of the next file, in order. They are cut after the end of a line where one is near.
  std::vector<Stretch> stretches(std::string_view file);

 private:
  index_t stretch_, period_, at_ = 0;
};

}  // namespace annulus::io
