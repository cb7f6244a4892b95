/// The part of HDF5 that checkpoints need, over its C API: handles that close themselves, and failures as exceptions
/// with the library's innermost reason instead of a stack on stderr. What describes a file that ranks write
/// together is collective; transfers of values are not.
#pragma once
#include <hdf5.h>

#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace annulus::io::h5 {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Owns one of the library's ids.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  /// Throws Failure for a negative id; `action` says what was tried, as in "cannot <action>".
  Handle(hid_t id, Close close, const std::string& action);
  ~Handle();
  Handle(Handle&& other) noexcept;
  Handle& operator=(Handle&&) = delete;

  hid_t id() const { return id_; }
  operator hid_t() const { return id_; }
  /// What the destructor does, but failure is thrown: data may be written only now.
  void close(const std::string& action);

 private:
  hid_t id_;
  Close close_;
};

/// Throws Failure, with the library's reason, for a negative status.
void require(herr_t status, const std::string& action);

/// Written by these ranks together; MPI_COMM_NULL: by this process alone, without MPI.
Handle create_file(const std::filesystem::path& path, MPI_Comm ranks);
/// To read, by this process alone: ranks that read the same file need not know of each other.
Handle open_file(const std::filesystem::path& path);

/// What was written so far reaches the file; with a communicator, the disk.
void flush(hid_t file);

Handle create_group(hid_t parent, const std::string& name);
Handle open_group(hid_t parent, const std::string& name);
bool exists(hid_t parent, const std::string& name);
/// Names of a group's members, in alphabetical order.
std::vector<std::string> members(hid_t group);

/// Contiguous, without filters, and not filled: every element is written anyway.
Handle create_dataset(hid_t parent, const std::string& name, Scalar type, const std::vector<index_t>& shape);
Handle open_dataset(hid_t parent, const std::string& name);
std::vector<index_t> shape_of(hid_t dataset);
/// Throws Failure for a type that is none of ours.
Scalar type_of(hid_t dataset);

/// begin .. begin + count in each dimension.
struct Block {
  std::vector<index_t> begin, count;
};
/// Not collective: each rank moves what it owns, in the type of the file, so that nothing is converted.
void write(hid_t dataset, Scalar type, const Block& block, const std::byte* values);
void read(hid_t dataset, Scalar type, const Block& block, std::byte* values);

void write_attribute(hid_t object, const std::string& name, index_t value);
void write_attribute(hid_t object, const std::string& name, std::uint64_t value);
void write_attribute(hid_t object, const std::string& name, double value);
void write_attribute(hid_t object, const std::string& name, const std::string& value);
bool has_attribute(hid_t object, const std::string& name);
/// index_t, std::uint64_t, double or std::string. Throws Failure for an attribute of another kind.
template <class T>
T attribute(hid_t object, const std::string& name);

}  // namespace annulus::io::h5
