#include "io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.hpp"

namespace annulus::io {

namespace {

[[noreturn]] void refuse(const char* verb, const std::filesystem::path& path, int reason) {
  throw Refused("cannot " + std::string(verb) + " " + path.string() + ": " + std::strerror(reason));
}

void synchronise(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) refuse("open", path, errno);
  const int failed = ::fsync(descriptor) ? errno : 0;
  ::close(descriptor);
  if (failed) refuse("write to disk", path, failed);
}

}  // namespace

InputFile::InputFile(std::filesystem::path path)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) refuse("read", path_, errno);
  struct stat status;
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw Refused("cannot read " + path_.string() + ": it is not a file");
  }
  size_ = status.st_size;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InputFile::read(index_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(descriptor_, out.data(), out.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse("read", path_, errno);
    if (got == 0) throw Refused(path_.string() + " ends at byte " + std::to_string(offset) + ": it has been shortened");
    out = out.subspan(got);
    offset += got;
  }
}

std::string InputFile::text() const {
  std::string text(size_, '\0');
  read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

NewFile::NewFile(std::filesystem::path path)
    : path_(std::move(path)),
      temporary_(path_.string() + ".partial"),
      descriptor_(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) refuse("write", path_, errno);
}

NewFile::~NewFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void NewFile::write(index_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) refuse("write", path_, errno);
    bytes = bytes.subspan(put);
    offset += put;
  }
}

void NewFile::write(index_t offset, const std::string& text) { write(offset, std::as_bytes(std::span(text))); }

void NewFile::commit() {
  publish(temporary_, path_);
  ::close(std::exchange(descriptor_, -1));
}

void publish(const std::filesystem::path& from, const std::filesystem::path& to) {
  synchronise(from);
  if (::rename(from.c_str(), to.c_str()) != 0) refuse("rename to", to, errno);
  const auto folder = to.parent_path();
  synchronise(folder.empty() ? "." : folder);
}

}  // namespace annulus::io
