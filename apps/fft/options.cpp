// Reads the command line; see options.hpp.
#include "fft/options.hpp"

#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

#include "fft/decimation.hpp"
#include "fft/gather_names.hpp"

namespace sibyl::fft {
namespace {

template <class Number>
bool read_number(std::string_view text, Number least, Number& value) {
  Number number{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || rest != text.data() + text.size() || number < least) return false;
  value = number;
  return true;
}

// Reads into `problem` what is wrong with one option.
std::string set(Options& options, std::string_view name, std::string_view value) {
  const auto wrong = [&](std::string_view wanted) {
    return std::string(name) + " " + std::string(value) + ": say " + std::string(wanted);
  };
  if (name == "--size") {
    if (!read_number<std::size_t>(value, 2, options.size) || !is_power_of_two(options.size) ||
        options.size > (std::size_t{1} << 30U)) {
      return wrong("a power of two up to 2^30");
    }
  } else if (name == "--iterations") {
    if (!read_number(value, 1, options.iterations)) return wrong("a number from 1");
  } else if (name == "--threads") {
    if (!read_number(value, 1, options.threads)) return wrong("a number from 1");
  } else if (name == "--compute") {
    double milliseconds = 0;
    if (!read_number(value, 0.0, milliseconds) || !std::isfinite(milliseconds)) {
      return wrong("milliseconds, as in 43.5");
    }
    options.compute = milliseconds * 1e-3;
  } else if (name == "--check-every") {
    if (!read_number(value, 0, options.check_every)) return wrong("a number from 0");
  } else if (name == "--gather") {
    std::string unknown;
    options.gathers = split_gathers(value, unknown);
    if (!unknown.empty()) return "--gather " + unknown + ": there are " + gather_names();
    if (options.gathers.empty()) return wrong("one or more of " + gather_names());
  } else if (name == "--json") {
    options.json = value;
    if (value.empty()) return wrong("a file");
  } else if (name == "--plot") {
    options.plot = value;
    if (!value.ends_with(".png") && !value.ends_with(".svg") && !value.ends_with(".pdf")) {
      return wrong("a file that ends in .png, .svg or .pdf");
    }
  } else {
    return "unknown option " + std::string(name) + "; --help lists them";
  }
  return {};
}

}  // namespace

Options parse_options(int argument_count, char** arguments) {
  Options options;
  for (int i = 1; i < argument_count; ++i) {
    std::string_view name = arguments[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
      return options;
    }
    if (!name.starts_with('-')) {
      if (!options.recording.empty()) {
        options.problem =
            "one recording at a time: " + options.recording + " and " + std::string(name);
        return options;
      }
      options.recording = name;
      continue;
    }
    std::string_view value;
    const std::size_t equals = name.find('=');
    if (equals != std::string_view::npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    } else if (i + 1 < argument_count) {
      value = arguments[++i];
    }
    options.problem = set(options, name, value);
    if (!options.problem.empty()) return options;
  }
  if (options.recording.empty()) options.problem = "name a recording; --help says how";
  return options;
}

std::string problem_on(const Options& options, std::size_t ranks) {
  if (!is_power_of_two(ranks)) {
    return std::to_string(ranks) + " ranks: their number must be a power of two";
  }
  if (options.size < 4 * ranks) {
    return "--size " + std::to_string(options.size) + " is too small for " + std::to_string(ranks) +
           " ranks; say " + std::to_string(4 * ranks) + " or more";
  }
  return {};
}

std::string usage(const std::string& program) {
  return "usage: " + program +
         " RECORDING [option]...\n"
         "Spectra of a recording, window by window, by a Fourier transform over all ranks.\n"
         "  RECORDING           WAV, FLAC, AIFF, Ogg ...; channels are averaged\n"
         "  --size N            samples of a window, a power of two; 262144\n"
         "  --iterations N      windows, for each way to gather; 1000\n"
         "  --gather A,B,...    how blocks are gathered: " +
         gather_names() +
         ";\n"
         "                      several take turns; MPI, which is MPI_Gather as it is called\n"
         "  --threads N         threads of a rank's own transform; 1\n"
         "  --compute MS        a rank's own transform takes this long at least, as on a slower "
         "computer\n"
         "  --check-every N     compare every N-th spectrum with a direct transform; 100, 0: none\n"
         "  --plot FILE         spectrum and waterfall, .png, .svg or .pdf\n"
         "  --json FILE         times of every iteration, and what the picture shows\n";
}

}  // namespace sibyl::fft
