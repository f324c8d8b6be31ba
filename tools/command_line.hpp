// What the command lines of the MPI programs share, read with CLI11: a line that says what is wrong
// rather than an exit, since every rank reads the same line and only one may speak.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

namespace sibyl::command_line {

// What came of reading: at most one of both.
struct Outcome {
  std::string help;     // the text that was asked for
  std::string problem;  // one line
};

// Finite numbers from `least` on.
template <class Number>
CLI::Validator from(Number least) {
  const auto check = [least](const std::string& text) -> std::string {
    Number number{};
    const bool fits = CLI::detail::lexical_cast(text, number) && number >= least &&
                      std::isfinite(static_cast<double>(number));
    if (fits) return {};
    return "'" + text + "' is no number from " + CLI::detail::to_string(least) + " on";
  };
  return CLI::Validator(check, "");
}

// The value of `option` is none of those that there are.
[[noreturn]] inline void refuse(const std::string& option, const std::string& value,
                                const std::string& wanted) {
  throw CLI::ValidationError(option, "'" + value + "': say " + wanted);
}

inline Outcome read(CLI::App& app, int argument_count, char** arguments) {
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::CallForHelp&) {
    return {.help = app.help(), .problem = {}};
  } catch (const CLI::ParseError& error) {
    return {.help = {}, .problem = std::string(error.what()) + "; --help lists the options"};
  }
  return {};
}

}  // namespace sibyl::command_line
