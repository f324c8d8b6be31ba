// Reads the command line; see options.hpp.
#include "bench/options.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

namespace sibyl::bench {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (comma != 0) parts.emplace_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return parts;
}

template <class Number>
bool read_number(std::string_view text, Number least, Number& value) {
  Number number{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || rest != text.data() + text.size() || number < least) return false;
  value = number;
  return true;
}

bool read_counts(std::string_view text, std::vector<int>& counts) {
  counts.clear();
  for (const std::string& part : split(text)) {
    int count = 0;
    if (!read_number(std::string_view(part), 1, count)) return false;
    counts.push_back(count);
  }
  return !counts.empty();
}

bool set(Options& options, std::string_view name, std::string_view value) {
  if (name == "--collective") return collective_from_name(value, options.collective);
  if (name == "--counts") return read_counts(value, options.counts);
  if (name == "--operators") return !(options.operators = split(value)).empty();
  if (name == "--algorithms") return !(options.contenders = split(value)).empty();
  if (name == "--reference") return !(options.reference = value).empty();
  if (name == "--hold") {
    options.held = split(value);
    return true;
  }
  if (name == "--repetitions") return read_number(value, 1, options.repetitions);
  if (name == "--warm-up") return read_number(value, 0, options.warm_up);
  if (name == "--batch-us") {
    double microseconds = 0;
    if (!read_number(value, 0.0, microseconds)) return false;
    options.batch_seconds = microseconds * 1e-6;
    return true;
  }
  if (name == "--seed") return read_number(value, 0U, options.seed);
  if (name == "--csv") return !(options.csv = value).empty();
  if (name == "--json") return !(options.json = value).empty();
  return false;
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
    std::string_view value;
    const std::size_t equals = name.find('=');
    if (equals != std::string_view::npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    } else if (i + 1 < argument_count) {
      value = arguments[++i];
    }
    if (!set(options, name, value)) {
      options.problem = "cannot use " + std::string(name) + " " + std::string(value);
      return options;
    }
  }
  return options;
}

std::string usage(const std::string& program) {
  return "usage: " + program +
         " [option]...\n"
         "Compares Sibyl's collectives with the MPI library's own, call by call in one run.\n"
         "  --collective NAME    exscan, scan, gather or scatter (exscan)\n"
         "  --counts N,...       elements of a vector, or of a block (1,10,100,...,100000)\n"
         "  --operators NAME,... bxor (MPI_LONG, MPI_BXOR), matrix (2x2 products of doubles, "
         "user-\n"
         "                       defined, does not commute), modular (the same modulo a prime:\n"
         "                       exact and expensive) (bxor,matrix)\n"
         "  --algorithms NAME,.. native, auto, Sibyl's algorithms by name, and for exscan the "
         "hand-\n"
         "                       written loop-123, recursive-doubling (as MPICH's) and chain (as\n"
         "                       Open MPI's default) (all)\n"
         "  --reference NAME     what the others are compared with (native)\n"
         "  --hold NAME,...      which must not be slower than the reference (auto)\n"
         "  --repetitions N      measurements per cell and algorithm (200)\n"
         "  --warm-up N          unmeasured ones before them (15)\n"
         "  --batch-us T         also measure batches of calls of about T microseconds; 0: only\n"
         "                       single calls (50)\n"
         "  --seed N             of the order in which the algorithms take turns (1)\n"
         "  --csv FILE --json FILE\n"
         "Exit status: 0; 1 when a held algorithm is slower than allowed; 2 for a wrong command\n"
         "line; 3 when an algorithm's result differs from the reference's.\n";
}

}  // namespace sibyl::bench
