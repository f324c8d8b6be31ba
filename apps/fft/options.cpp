// Reads the command line; see options.hpp.
#include "fft/options.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "command_line.hpp"
#include "fft/decimation.hpp"
#include "fft/gather_names.hpp"

namespace sibyl::fft {
namespace {

using command_line::from;
using command_line::refuse;

void add_options(CLI::App& app, Options& options) {
  app.add_option("RECORDING", options.recording, "WAV, FLAC, AIFF, Ogg ...; channels are averaged")
      ->required()
      ->option_text("");
  app.add_option_function<std::size_t>(
         "--size",
         [&options](std::size_t size) {
           if (size < 2 || !is_power_of_two(size) || size > (std::size_t{1} << 30U)) {
             refuse("--size", std::to_string(size), "a power of two from 2 to 2^30");
           }
           options.size = size;
         },
         "samples of a window, a power of two (262144)")
      ->option_text("N");
  app.add_option("--iterations", options.iterations, "windows, for each way to gather (1000)")
      ->check(from(1))
      ->option_text("N");
  app.add_option_function<std::string>(
         "--gather",
         [&options](const std::string& names) {
           std::string unknown;
           options.gathers = split_gathers(names, unknown);
           if (options.gathers.empty()) {
             refuse("--gather", unknown, "one or more of " + gather_names());
           }
         },
         "how blocks are gathered: " + gather_names() +
             "; several take turns; NAME@K has K transfers of the root under way, 0: no limit "
             "(MPI, which is MPI_Gather as it is called)")
      ->option_text("A,B,...");
  app.add_option("--threads", options.threads, "threads of a rank's own transform (1)")
      ->check(from(1))
      ->option_text("N");
  app.add_option_function<double>(
         "--compute", [&options](double milliseconds) { options.compute = milliseconds * 1e-3; },
         "a rank's own transform takes this many milliseconds at least, as on a slower computer")
      ->check(from(0.0))
      ->option_text("MS");
  app.add_option("--check-every", options.check_every,
                 "compare every N-th spectrum with a direct transform; 0: none (100)")
      ->check(from(0))
      ->option_text("N");
  app.add_option_function<std::string>(
         "--plot",
         [&options](const std::string& file) {
           if (!file.ends_with(".png") && !file.ends_with(".svg") && !file.ends_with(".pdf")) {
             refuse("--plot", file, "a file that ends in .png, .svg or .pdf");
           }
           options.plot = file;
         },
         "spectrum and waterfall, .png, .svg or .pdf")
      ->option_text("FILE");
  app.add_option("--json", options.json, "times of every iteration, and what the picture shows")
      ->option_text("FILE");
}

}  // namespace

Options parse_options(int argument_count, char** arguments) {
  Options options;
  CLI::App app("Spectra of a recording, window by window, by a Fourier transform over all ranks.");
  add_options(app, options);
  const command_line::Outcome outcome = command_line::read(app, argument_count, arguments);
  options.help = outcome.help;
  options.problem = outcome.problem;
  return options;
}

namespace {

// Whether the preload is there and takes PMPI_Gather.
bool is_taken_by_profiling_names() {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  const char* const intercept = std::getenv("SIBYL_INTERCEPT");
  return preloaded != nullptr && std::strstr(preloaded, "libsibyl-preload") != nullptr &&
         intercept != nullptr && std::string_view(intercept) == "pmpi";
}

}  // namespace

std::string problem_on(const Options& options, std::size_t ranks, bool common_clock) {
  if (!is_power_of_two(ranks)) {
    return std::to_string(ranks) + " ranks: their number must be a power of two";
  }
  if (options.size < 4 * ranks) {
    return "--size " + std::to_string(options.size) + " is too small for " + std::to_string(ranks) +
           " ranks; say " + std::to_string(4 * ranks) + " or more";
  }
  for (const std::string& name : options.gathers) {
    if (name == "native" && is_taken_by_profiling_names()) {
      return "--gather native would be Sibyl's: SIBYL_INTERCEPT=pmpi takes profiling names, too; "
             "leave one of the two out";
    }
    if (!common_clock && find_gather(name)->told_others) {
      return "--gather " + name +
             " compares times of ranks, which need the clock of one machine; "
             "leave it out on several";
    }
  }
  return {};
}

}  // namespace sibyl::fft
