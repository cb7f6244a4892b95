/// Files by descriptor, with 64-bit offsets, and the one way in which Annulus makes a file appear: under a temporary
/// name, on disk, then renamed; whoever finds it under its final name finds it whole, whatever was killed when.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "core/types.hpp"

namespace annulus::io {

class InputFile {
 public:
  /// Throws Refused for what is no readable regular file.
  explicit InputFile(std::filesystem::path path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Bytes, when it was opened.
  index_t size() const { return size_; }
  /// Throws Refused when the bytes are not there any more.
  void read(index_t offset, std::span<std::byte> out) const;
  std::string text() const;

 private:
  std::filesystem::path path_;
  int descriptor_;
  index_t size_;
};

/// A file that comes into being with commit(); without it nothing stays.
class NewFile {
 public:
  /// Throws Refused, as the others do, with the system's reason.
  explicit NewFile(std::filesystem::path path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(index_t offset, std::span<const std::byte> bytes);
  void write(index_t offset, const std::string& text);
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  int descriptor_;
};

/// Puts on disk what was written to `from` (a file or a folder), gives it the name `to` in the same folder, and puts
/// that on disk too: closing a file does none of this.
void publish(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace annulus::io
