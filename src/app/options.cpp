#include "app/options.hpp"

#include <CLI/CLI.hpp>

#include "core/types.hpp"

namespace annulus::app {

Options::Option Options::Option::required() const { return Option(option_->required()); }
Options::Option Options::Option::with_default() const { return Option(option_->capture_default_str()); }
Options::Option Options::Option::positive() const { return Option(option_->check(CLI::PositiveNumber)); }
Options::Option Options::Option::not_negative() const { return Option(option_->check(CLI::NonNegativeNumber)); }
Options::Option Options::Option::between(int least, int most) const {
  return Option(option_->check(CLI::Range(least, most)));
}
Options::Option Options::Option::one_of(const std::vector<std::string>& words) const {
  return Option(option_->check(CLI::IsMember(words)));
}
Options::Option Options::Option::needs(const std::string& other) const { return Option(option_->needs(other)); }
Options::Option Options::Option::one_at_a_time(const std::string& type) const {
  return Option(option_->type_name(type)->allow_extra_args(false));
}

template <class T>
Options::Option Options::add(const std::string& name, T& value, const std::string& help) {
  return Option(cli_.add_option(name, value, help));
}
template Options::Option Options::add(const std::string&, std::string&, const std::string&);
template Options::Option Options::add(const std::string&, std::vector<std::string>&, const std::string&);
template Options::Option Options::add(const std::string&, int&, const std::string&);
template Options::Option Options::add(const std::string&, index_t&, const std::string&);
template Options::Option Options::add(const std::string&, std::uint64_t&, const std::string&);
template Options::Option Options::add(const std::string&, double&, const std::string&);

void Options::flag(const std::string& name, bool& value, const std::string& help) { cli_.add_flag(name, value, help); }

void Options::footer(const std::string& text) { cli_.footer(text); }

}  // namespace annulus::app
