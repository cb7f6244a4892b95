#include "io/metrics.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.hpp"
#include "io/file.hpp"

namespace annulus::io {

namespace {

constexpr const char* columns = "step,loss,lr,grad_norm,ms,tokens_per_second,tokens,validation_loss";

int open_to_append(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) throw Refused(fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
  return descriptor;
}

/// A line in one call, so that no reader sees half of it.
void append_line(int descriptor, const std::filesystem::path& path, const std::string& line) {
  const std::string bytes = line + "\n";
  if (::write(descriptor, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    throw Error(Exit::internal, fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
}

std::string line_of(const StepMetrics& row) {
  return fmt::format("{},{},{},{},{},{},{},{}", row.step, row.loss, row.lr, row.grad_norm, row.ms,
                     row.tokens_per_second, row.tokens,
                     row.validation_loss ? fmt::format("{}", *row.validation_loss) : "");
}

template <class Number>
Number parsed(std::istream& fields) {
  std::string field;
  std::getline(fields, field, ',');
  Number number{};
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (error != std::errc{} || end != field.data() + field.size()) throw std::invalid_argument(field);
  return number;
}

StepMetrics parsed_row(const std::string& line) {
  std::istringstream fields(line);
  StepMetrics row;
  row.step = parsed<index_t>(fields);
  for (double* const value : {&row.loss, &row.lr, &row.grad_norm, &row.ms, &row.tokens_per_second})
    *value = parsed<double>(fields);
  row.tokens = parsed<index_t>(fields);
  if (fields.peek() != std::istream::traits_type::eof()) row.validation_loss = parsed<double>(fields);
  return row;
}

}  // namespace

std::vector<StepMetrics> read_metrics(const std::filesystem::path& path) {
  std::istringstream lines(InputFile(path).text());
  std::vector<StepMetrics> rows;
  std::string line;
  std::getline(lines, line);
  if (line != columns) throw Refused(fmt::format("{} has other columns than {}", path.string(), columns));
  for (index_t number = 2; std::getline(lines, line) && !lines.eof(); ++number) try {
      rows.push_back(parsed_row(line));
    } catch (const std::invalid_argument& field) {
      throw Refused(fmt::format("{}:{}: \"{}\" is no number", path.string(), number, field.what()));
    }
  return rows;
}

MetricsFile::MetricsFile(const std::filesystem::path& path, index_t resumed) : path_(path) {
  std::string kept = fmt::format("{}\n", columns);
  if (resumed > 0 && std::filesystem::exists(path))
    for (const StepMetrics& row : read_metrics(path))
      if (row.step <= resumed) kept += line_of(row) + "\n";
  NewFile file(path);
  file.write(0, kept);
  file.commit();
  descriptor_ = open_to_append(path);
}

MetricsFile::~MetricsFile() { ::close(descriptor_); }

void MetricsFile::append(const StepMetrics& row) { append_line(descriptor_, path_, line_of(row)); }

EventLog::EventLog(const std::filesystem::path& path) : path_(path) {
  bool unfinished = false;
  if (std::filesystem::exists(path)) {
    const InputFile file(path);
    char last = '\n';
    if (file.size() > 0) file.read(file.size() - 1, std::as_writable_bytes(std::span(&last, 1)));
    unfinished = last != '\n';
  }
  descriptor_ = open_to_append(path);
  if (unfinished) append_line(descriptor_, path_, "");
}

EventLog::~EventLog() { ::close(descriptor_); }

void EventLog::append(const std::string& event, index_t step, const std::vector<EventField>& fields) {
  nlohmann::ordered_json json = {{"event", event},
                                 {"step", step},
                                 {"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))}};
  for (const auto& [name, value] : fields) std::visit([&, &name = name](const auto& v) { json[name] = v; }, value);
  append_line(descriptor_, path_, json.dump());
}

}  // namespace annulus::io
