#include "io/gradient_file.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "io/agreement.hpp"
#include "io/checkpoint_file.hpp"
#include "io/mpi_ranks.hpp"

namespace annulus::io {

namespace {

void write_description(hid_t file, const model::Model& model, const GradientRecord& record) {
  h5::write_attribute(file, "format", std::string("annulus gradients"));
  h5::write_attribute(file, "format_version", index_t{1});
  h5::write_attribute(file, "deck", record.deck);
  h5::write_attribute(file, "step", record.step);
  h5::write_attribute(file, "git", record.git);
  h5::write_attribute(file, "compute_type", std::string(name_of(model.compute_type())));
  h5::write_attribute(file, "attention", std::string(model.attention_path()));
  h5::write_attribute(file, "loss", record.loss);
  h5::write_attribute(file, "gradient_norm", record.gradient_norm);
  h5::write_attribute(file, "valid_tokens", record.valid_tokens);
}

template <class T>
void write_whole(hid_t dataset, Scalar type, const std::vector<index_t>& shape, const std::vector<T>& values) {
  const h5::Block whole{std::vector<index_t>(shape.size(), 0), shape};
  h5::write(dataset, type, whole, reinterpret_cast<const std::byte*>(values.data()));
}

/// `tokens` (rows, T + 1), and `document_begins` (n, 2): a row, and where one of its documents begins.
void write_rows(hid_t file, const std::vector<Sample>& rows, Agreement& agreement) {
  std::vector<std::int32_t> tokens;
  std::vector<index_t> begins;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    tokens.insert(tokens.end(), rows[row].tokens.begin(), rows[row].tokens.end());
    for (const index_t begin : rows[row].document_begins) begins.insert(begins.end(), {index_t(row), begin});
  }
  const auto count = static_cast<index_t>(rows.size());
  const std::vector<index_t> tokens_shape{count, index_t(tokens.size()) / count};
  const std::vector<index_t> begins_shape{index_t(begins.size()) / 2, 2};
  const h5::Handle stored_tokens = h5::create_dataset(file, "tokens", Scalar::int32, tokens_shape);
  const h5::Handle stored_begins = h5::create_dataset(file, "document_begins", Scalar::int64, begins_shape);
  agreement.attempt_on_first([&] {
    write_whole(stored_tokens, Scalar::int32, tokens_shape, tokens);
    write_whole(stored_begins, Scalar::int64, begins_shape, begins);
  });
}

void write_tensors(hid_t file, const model::Model& model, int rank, Agreement& agreement) {
  const StoredArena stored{"gradients", model::Arena::gradient, model.state_type()};
  const h5::Handle group = h5::create_group(file, stored.group);
  for (const model::Tensor& tensor : model.parameters().tensors()) {
    const h5::Handle dataset = h5::create_dataset(group, tensor.name, stored.type, tensor.shape);
    agreement.attempt([&] { write_part(dataset, model, tensor, stored, rank); });
  }
}

void write_file(const std::filesystem::path& path, const model::Model& model, const GradientRecord& record,
                comm::Communicator& world, Agreement& agreement) {
  const MpiRanks ranks(world);
  h5::Handle file = h5::create_file(path, ranks.handle());
  write_description(file, model, record);
  write_rows(file, record.rows, agreement);
  write_tensors(file, model, world.rank(), agreement);
  if (const std::string failure = agreement.failure(); !failure.empty()) throw h5::Failure(failure);
  h5::write_attribute(file, "complete", index_t{1});
  file.close("close " + path.string());
}

}  // namespace

void write_gradients(const std::filesystem::path& file, const model::Model& model, const GradientRecord& record,
                     comm::Communicator& world) {
  Agreement agreement(world);
  agreement.attempt([&] { write_file(file, model, record, world, agreement); });
  if (const std::string failure = agreement.failure(); !failure.empty())
    throw Error(Exit::internal, fmt::format("writing {} failed: {}", file.string(), failure));
}

}  // namespace annulus::io
