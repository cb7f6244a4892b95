#include "model/memory_plan.hpp"

#include <algorithm>
#include <cassert>
#include <iomanip>
#include <sstream>

#include "core/text.hpp"

namespace annulus::model {

namespace {

constexpr const char* lifetime_names[] = {"persistent", "saved", "scratch", "pinned", "library"};

index_t rounded_up(index_t value, index_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

index_t MemoryPlan::reserve(Lifetime lifetime, const std::string& name, index_t bytes, const std::string& until) {
  assert(bytes >= 0);
  assert(lifetime != Lifetime::scratch || (!frames_.empty() && frames_.back().first == until));
  index_t& top = top_[static_cast<int>(lifetime)];
  index_t& peak = peak_[static_cast<int>(lifetime)];
  const index_t offset = top;
  top += rounded_up(bytes, alignment) + (lifetime == Lifetime::library ? 0 : red_zone);
  peak = std::max(peak, top);
  rows_.push_back({name, lifetime, offset, bytes, until});
  return offset;
}

void MemoryPlan::open_frame(const std::string& name) {
  frames_.emplace_back(name, top_[static_cast<int>(Lifetime::scratch)]);
}

void MemoryPlan::close_frame() {
  assert(!frames_.empty());
  top_[static_cast<int>(Lifetime::scratch)] = frames_.back().second;
  frames_.pop_back();
}

index_t MemoryPlan::bytes(Lifetime lifetime) const { return peak_[static_cast<int>(lifetime)]; }

index_t MemoryPlan::total() const {
  return bytes(Lifetime::persistent) + bytes(Lifetime::saved) + bytes(Lifetime::scratch);
}

const char* MemoryPlan::label(Lifetime lifetime) {
  constexpr const char* labels[] = {"annulus::model::persistent", "annulus::model::saved", "annulus::model::scratch",
                                    "annulus::model::pinned", "library"};
  return labels[static_cast<int>(lifetime)];
}

std::string MemoryPlan::table() const {
  std::size_t name_width = 0;
  for (const Row& row : rows_) name_width = std::max(name_width, row.name.size());
  std::ostringstream out;
  const auto line = [&](const std::string& lifetime, const std::string& name, const std::string& bytes,
                        const std::string& rounded, const std::string& rest) {
    out << std::left << std::setw(12) << lifetime << std::setw(static_cast<int>(name_width) + 2) << name << std::right
        << std::setw(16) << bytes << std::setw(12) << rounded << "  " << rest << '\n';
  };
  const auto sized = [&](const std::string& lifetime, const std::string& name, index_t bytes, const std::string& rest) {
    line(lifetime, name, text(bytes), bytes_text(bytes), rest);
  };

  for (const Row& row : rows_) {
    const std::string lifetime = lifetime_names[static_cast<int>(row.lifetime)], until = "until " + row.until;
    if (row.lifetime == Lifetime::library && row.bytes == 0)
      line(lifetime, row.name, "its own", "", until);
    else
      sized(lifetime, row.name, row.bytes, until);
  }
  for (const Lifetime lifetime : allocated_lifetimes) {
    if (lifetime == Lifetime::pinned && bytes(lifetime) == 0) continue;
    sized(lifetime_names[static_cast<int>(lifetime)], "", bytes(lifetime), text("one allocation, ", label(lifetime)));
  }
  sized("total", "", total(), "without the libraries' own");
  if (bytes(Lifetime::library) > 0)
    sized("total", "", total() + bytes(Lifetime::library), "with those of the libraries that are known");
  return out.str();
}

}  // namespace annulus::model
