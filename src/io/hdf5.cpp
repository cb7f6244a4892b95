#include "io/hdf5.hpp"

#include <array>
#include <cassert>
#include <utility>

namespace annulus::io::h5 {

namespace {

/// What the innermost frame of the library's error stack says.
std::string reason() {
  std::string innermost;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* frame, void* out) -> herr_t {
        auto& text = *static_cast<std::string*>(out);
        if (text.empty() && frame->desc) text = frame->desc;
        return 0;
      },
      &innermost);
  H5Eclear2(H5E_DEFAULT);
  return innermost.empty() ? "HDF5 gives no reason" : innermost;
}

[[noreturn]] void fail(const std::string& action) { throw Failure("cannot " + action + ": " + reason()); }

Handle file_access(MPI_Comm ranks) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // else the library prints its whole stack on stderr
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "prepare file access");
  if (ranks != MPI_COMM_NULL) require(H5Pset_fapl_mpio(access, ranks, MPI_INFO_NULL), "use MPI-IO");
  // From version 1.8's format on, the library checks its own metadata by checksums.
  require(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18), "choose the file format");
  // Some parallel file systems refuse locks, and a file under its final name is never written again.
  require(H5Pset_file_locking(access, false, true), "go without file locks");
  return access;
}

Handle file_type(Scalar type) {
  constexpr auto keep = [](hid_t predefined) { return H5Tcopy(predefined); };
  const std::string action = "describe " + std::string(name_of(type));
  switch (type) {
    case Scalar::fp32:
      return {keep(H5T_IEEE_F32LE), H5Tclose, action};
    case Scalar::fp64:
      return {keep(H5T_IEEE_F64LE), H5Tclose, action};
    case Scalar::int32:
      return {keep(H5T_STD_I32LE), H5Tclose, action};
    case Scalar::int64:
      return {keep(H5T_STD_I64LE), H5Tclose, action};
    case Scalar::bf16:
      break;
  }
  // sign bit 15, eight bits of exponent from bit 7, seven of mantissa from bit 0: HDF5 2.0's own bfloat16 is the same
  Handle bf16(H5Tcopy(H5T_IEEE_F32LE), H5Tclose, action);
  require(H5Tset_fields(bf16, 15, 7, 8, 0, 7), action);
  require(H5Tset_size(bf16, 2), action);
  require(H5Tset_ebias(bf16, 127), action);
  return bf16;
}

std::vector<hsize_t> extents(const std::vector<index_t>& values) { return {values.begin(), values.end()}; }

Handle simple_space(const std::vector<index_t>& shape) {
  const auto dims = extents(shape);
  return {H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose, "describe a shape"};
}

Handle scalar_space() { return {H5Screate(H5S_SCALAR), H5Sclose, "describe a scalar"}; }

Handle text_type(std::size_t size) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "describe a text");
  require(H5Tset_size(type, size > 0 ? size : 1), "describe a text");  // there is no text of size 0
  require(H5Tset_strpad(type, H5T_STR_NULLPAD), "describe a text");
  require(H5Tset_cset(type, H5T_CSET_UTF8), "describe a text");
  return type;
}

std::string without_padding(std::string text) {
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

struct Selection {
  Handle memory, file;

  Selection(hid_t dataset, const Block& block)
      : memory(simple_space({count(block)})), file(H5Dget_space(dataset), H5Sclose, "find a data set's shape") {
    const auto begin = extents(block.begin), shape = extents(block.count);
    require(H5Sselect_hyperslab(file, H5S_SELECT_SET, begin.data(), nullptr, shape.data(), nullptr), "select a block");
  }

  static index_t count(const Block& block) {
    index_t count = 1;
    for (const index_t n : block.count) count *= n;
    return count;
  }
};

void put_attribute(hid_t object, const std::string& name, hid_t type, const void* value) {
  const std::string action = "write attribute " + name;
  const Handle space = scalar_space();
  Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, action);
  require(H5Awrite(attribute, type, value), action);
  attribute.close(action);
}

template <class T>
T number_attribute(hid_t object, const std::string& name, hid_t type, H5T_class_t kind) {
  const std::string action = "read attribute " + name;
  const Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, action);
  const Handle stored(H5Aget_type(attribute), H5Tclose, action);
  const Handle space(H5Aget_space(attribute), H5Sclose, action);
  if (H5Tget_class(stored) != kind || H5Sget_simple_extent_npoints(space) != 1)
    throw Failure("attribute " + name + " is not the number that it should be");
  T value;
  require(H5Aread(attribute, type, &value), action);
  return value;
}

}  // namespace

Handle::Handle(hid_t id, Close close, const std::string& action) : id_(id), close_(close) {
  if (id < 0) fail(action);
}

Handle::Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}

Handle::~Handle() {
  if (id_ >= 0 && close_(id_) < 0) H5Eclear2(H5E_DEFAULT);
}

void Handle::close(const std::string& action) { require(close_(std::exchange(id_, -1)), action); }

void require(herr_t status, const std::string& action) {
  if (status < 0) fail(action);
}

Handle create_file(const std::filesystem::path& path, MPI_Comm ranks) {
  const Handle access = file_access(ranks);
  return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, "create " + path.string()};
}

Handle open_file(const std::filesystem::path& path) {
  const Handle access = file_access(MPI_COMM_NULL);
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose, "open " + path.string()};
}

void flush(hid_t file) { require(H5Fflush(file, H5F_SCOPE_GLOBAL), "flush"); }

Handle create_group(hid_t parent, const std::string& name) {
  return {H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "create group " + name};
}

Handle open_group(hid_t parent, const std::string& name) {
  return {H5Gopen2(parent, name.c_str(), H5P_DEFAULT), H5Gclose, "open group " + name};
}

bool exists(hid_t parent, const std::string& name) {
  const htri_t found = H5Lexists(parent, name.c_str(), H5P_DEFAULT);
  require(found, "look for " + name);
  return found > 0;
}

std::vector<std::string> members(hid_t group) {
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->push_back(name);
    return 0;
  };
  require(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names), "list a group");
  return names;
}

Handle create_dataset(hid_t parent, const std::string& name, Scalar type, const std::vector<index_t>& shape) {
  const std::string action = "create data set " + name;
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, action);
  require(H5Pset_layout(properties, H5D_CONTIGUOUS), action);
  require(H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER), action);
  require(H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY), action);
  const Handle stored = file_type(type), space = simple_space(shape);
  return {H5Dcreate2(parent, name.c_str(), stored, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose, action};
}

Handle open_dataset(hid_t parent, const std::string& name) {
  return {H5Dopen2(parent, name.c_str(), H5P_DEFAULT), H5Dclose, "open data set " + name};
}

std::vector<index_t> shape_of(hid_t dataset) {
  const Handle space(H5Dget_space(dataset), H5Sclose, "find a data set's shape");
  std::vector<hsize_t> dims(H5Sget_simple_extent_ndims(space));
  require(H5Sget_simple_extent_dims(space, dims.data(), nullptr), "find a data set's shape");
  return {dims.begin(), dims.end()};
}

Scalar type_of(hid_t dataset) {
  const Handle stored(H5Dget_type(dataset), H5Tclose, "find a data set's type");
  for (const Scalar type : {Scalar::bf16, Scalar::fp32, Scalar::fp64, Scalar::int32, Scalar::int64})
    if (H5Tequal(stored, file_type(type)) > 0) return type;
  throw Failure("a data set's type is none of bf16, fp32, fp64, int32 and int64");
}

void write(hid_t dataset, Scalar type, const Block& block, const std::byte* values) {
  const Handle stored = file_type(type);
  const Selection selection(dataset, block);
  require(H5Dwrite(dataset, stored, selection.memory, selection.file, H5P_DEFAULT, values), "write values");
}

void read(hid_t dataset, Scalar type, const Block& block, std::byte* values) {
  const Handle stored = file_type(type);
  const Selection selection(dataset, block);
  require(H5Dread(dataset, stored, selection.memory, selection.file, H5P_DEFAULT, values), "read values");
}

void write_attribute(hid_t object, const std::string& name, index_t value) {
  put_attribute(object, name, H5T_STD_I64LE, &value);
}

void write_attribute(hid_t object, const std::string& name, std::uint64_t value) {
  put_attribute(object, name, H5T_STD_U64LE, &value);
}

void write_attribute(hid_t object, const std::string& name, double value) {
  put_attribute(object, name, H5T_IEEE_F64LE, &value);
}

void write_attribute(hid_t object, const std::string& name, const std::string& value) {
  const std::string padded = value.empty() ? std::string(1, '\0') : value;
  put_attribute(object, name, text_type(padded.size()), padded.data());
}

bool has_attribute(hid_t object, const std::string& name) {
  const htri_t found = H5Aexists(object, name.c_str());
  require(found, "look for attribute " + name);
  return found > 0;
}

template <>
index_t attribute<index_t>(hid_t object, const std::string& name) {
  return number_attribute<index_t>(object, name, H5T_STD_I64LE, H5T_INTEGER);
}

template <>
std::uint64_t attribute<std::uint64_t>(hid_t object, const std::string& name) {
  return number_attribute<std::uint64_t>(object, name, H5T_STD_U64LE, H5T_INTEGER);
}

template <>
double attribute<double>(hid_t object, const std::string& name) {
  return number_attribute<double>(object, name, H5T_IEEE_F64LE, H5T_FLOAT);
}

template <>
std::string attribute<std::string>(hid_t object, const std::string& name) {
  const std::string action = "read attribute " + name;
  const Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, action);
  const Handle stored(H5Aget_type(attribute), H5Tclose, action);
  if (H5Tget_class(stored) != H5T_STRING || H5Tis_variable_str(stored) > 0)
    throw Failure("attribute " + name + " is not the text that it should be");
  std::string value(H5Tget_size(stored), '\0');
  require(H5Aread(attribute, stored, value.data()), action);
  return without_padding(value);
}

}  // namespace annulus::io::h5
