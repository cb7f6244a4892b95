/// What a command takes on its command line. CLI11 parses it; only options.cpp and program.cpp see CLI11's header,
/// whose classes cost each file that does five seconds of compilation.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace annulus::app {

class Options {
 public:
  /// An option, for what more there is to say of it.
  class Option {
   public:
    explicit Option(CLI::Option* option) : option_(option) {}
    Option required() const;
    Option with_default() const;  ///< --help shows the value that the variable has now
    Option positive() const;
    Option not_negative() const;
    Option between(int least, int most) const;
    Option one_of(const std::vector<std::string>& words) const;
    Option needs(const std::string& other) const;
    Option one_at_a_time(const std::string& type) const;  ///< of a list: one value each time that the option is given

   private:
    CLI::Option* option_;
  };

  explicit Options(CLI::App& cli) : cli_(cli) {}

  /// "--name", "-n,--name", or "NAME" for a positional. T is std::string, a vector of them, int, index_t, std::uint64_t
  /// or double.
  template <class T>
  Option add(const std::string& name, T& value, const std::string& help);
  void flag(const std::string& name, bool& value, const std::string& help);
  /// Printed below the options: what else to know, and an example.
  void footer(const std::string& text);

 private:
  CLI::App& cli_;
};

}  // namespace annulus::app
