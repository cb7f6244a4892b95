#include "deck/key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.hpp"

namespace annulus::deck {

namespace {

/// Bounds of sizes stay readable as integers.
std::string bound_text(double bound) {
  return std::abs(bound) < 1e15 && bound == std::floor(bound) ? fmt::format("{:.0f}", bound) : fmt::format("{}", bound);
}

/// "a, b or c".
std::string listed(const std::vector<std::string>& values, const char* last = " or ") {
  if (values.empty()) return "";
  const std::vector<std::string> front(values.begin(), values.end() - 1);
  return front.empty() ? values.back() : joined(front, ", ") + last + values.back();
}

template <class Values>
std::vector<std::string> toml_texts(const Values& values) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const auto& value : values) texts.push_back(toml_text(value));
  return texts;
}

}  // namespace

Key::Key(std::string block, std::string name, Target target)
    : block_(std::move(block)), name_(std::move(name)), target_(target), default_(value()) {}

Key& Key::doc(std::string sentence) { return doc_ = std::move(sentence), *this; }
Key& Key::unit(std::string unit) { return unit_ = std::move(unit), *this; }
Key& Key::at_least(double least) { return least_ = least, *this; }
Key& Key::above(double bound) { return above_ = bound, *this; }
Key& Key::at_most(double most) { return most_ = most, *this; }
Key& Key::below(double bound) { return below_ = bound, *this; }
Key& Key::one_of(std::vector<std::string> values) { return values_ = std::move(values), *this; }
Key& Key::required() { return required_ = true, *this; }

Key& Key::later(std::string value, std::string feature) {
  later_.emplace_back(std::move(value), std::move(feature));
  return *this;
}

Key& Key::later_above(index_t most, std::string feature) {
  built_up_to_ = most;
  later_.emplace_back(text("> ", most), std::move(feature));
  return *this;
}

Key& Key::needs(const std::string& other, std::vector<Value> settings) {
  other_ = other.find('.') == std::string::npos ? block_ + "." + other : other;
  settings_ = std::move(settings);
  return *this;
}

std::string Key::condition() const {
  return text("`", other_, "` is ", settings_.empty() ? "given" : listed(toml_texts(settings_)));
}

std::string Key::deciding_change() const {
  return settings_.empty() ? "give " + other_ : text("let ", other_, " be ", listed(toml_texts(settings_)));
}

bool Key::has_effect_with(const Value& other) const {
  if (settings_.empty()) return other != Value(std::string());
  return std::find(settings_.begin(), settings_.end(), other) != settings_.end();
}

std::string Key::type() const {
  constexpr const char* types[] = {"", "boolean", "integer", "number", "string", "list of integers"};
  return types[target_.index()];
}

std::string Key::range() const {
  if (!values_.empty()) return listed(toml_texts(values_));
  std::vector<std::string> bounds;
  if (least_) bounds.push_back("at least " + bound_text(*least_));
  if (above_) bounds.push_back("above " + bound_text(*above_));
  if (most_) bounds.push_back("at most " + bound_text(*most_));
  if (below_) bounds.push_back("below " + bound_text(*below_));
  return listed(bounds, " and ");
}

Value Key::value() const {
  struct Reader {
    Value operator()(std::monostate) const { return Unusable{}; }
    Value operator()(const bool* v) const { return *v; }
    Value operator()(const index_t* v) const { return *v; }
    Value operator()(const double* v) const { return *v; }
    Value operator()(const std::string* v) const { return *v; }
    Value operator()(const std::vector<index_t>* v) const { return *v; }
  };
  return std::visit(Reader{}, target_);
}

void Key::take(const Value& value, const std::string& written, const Where& where) {
  where_ = where;
  written_ = written;
  of_wrong_type_.reset();
  const bool held = std::visit(
      [&](auto target) {
        using T = std::remove_pointer_t<decltype(target)>;
        if constexpr (!std::is_same_v<T, std::monostate>) {
          const auto* same = std::get_if<T>(&value);
          if (same) *target = *same;
          if constexpr (std::is_same_v<T, double>)
            if (const auto* integer = std::get_if<index_t>(&value))
              return *target = static_cast<double>(*integer), true;
          return same != nullptr;
        }
        return false;
      },
      target_);
  if (!held) of_wrong_type_ = value;
}

void Key::reset() { take(default_, "", Where{}); }

bool Key::outside(double number) const {
  return !std::isfinite(number) || (least_ && number < *least_) || (above_ && number <= *above_) ||
         (most_ && number > *most_) || (below_ && number >= *below_);
}

std::string Key::violation() const {
  if (!built()) return "is not built yet; leave it out";
  const std::string range_text = range().empty() ? "finite" : range();
  if (of_wrong_type_)
    return text("is ", kind_of(*of_wrong_type_), "; it must be ", kind_of(default_), range().empty() ? "" : ", ",
                range());

  const Value held = value();
  if (const auto* number = std::get_if<double>(&held); number && outside(*number))
    return text("is out of range; it must be ", range_text);
  if (const auto* integer = std::get_if<index_t>(&held)) {
    if (outside(static_cast<double>(*integer))) return text("is out of range; it must be ", range_text);
    if (built_up_to_ && *integer > *built_up_to_)
      return text("is not built yet (", later_.back().second, "); it must be at most ", *built_up_to_);
  }
  if (const auto* list = std::get_if<std::vector<index_t>>(&held))
    for (const index_t element : *list)
      if (outside(static_cast<double>(element)))
        return text("holds ", element, ", which is out of range; each must be ", range_text);
  if (const auto* word = std::get_if<std::string>(&held); word && !values_.empty()) {
    for (const auto& [value, feature] : later_)
      if (*word == value) return text("is not built yet (", feature, "); it must be ", range_text);
    if (std::find(values_.begin(), values_.end(), *word) == values_.end()) {
      const std::string near = nearest(*word, values_);
      return text("is unknown; it must be ", range_text, near.empty() ? "" : text("; did you mean \"", near, "\"?"));
    }
  }
  return "";
}

}  // namespace annulus::deck
