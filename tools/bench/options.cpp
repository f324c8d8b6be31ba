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

// KEY=VALUE,...,pattern=VALUE: the pattern comes last, since a file's name may hold commas.
bool read_cell(std::string_view text, std::vector<ArrivalCell>& cells) {
  ArrivalCell cell;
  while (!text.empty()) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view key = text.substr(0, equals);
    const std::size_t comma = key == "pattern" ? std::string_view::npos : text.find(',');
    const std::string_view value = text.substr(
        equals + 1, comma == std::string_view::npos ? std::string_view::npos : comma - equals - 1);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    const bool understood = key == "bytes"     ? read_number(value, 1LL, cell.bytes)
                            : key == "block"   ? read_number(value, 1, cell.block)
                            : key == "delay"   ? read_number(value, 0.0, cell.max_delay)
                            : key == "counts"  ? shape_from_name(value, cell.counts)
                            : key == "pattern" ? !(cell.pattern = value).empty()
                                               : false;
    if (!understood) return false;
  }
  cells.push_back(cell);
  return (cell.bytes > 0) != (cell.block > 0);
}

bool set(Options& options, std::string_view name, std::string_view value) {
  if (name == "--collective") return operation_from_name(value, options.operation);
  if (name == "--root") return read_number(value, 0, options.root);
  if (name == "--cell") return read_cell(value, options.cells);
  if (name == "--iterations") return read_number(value, 1, options.iterations);
  if (name == "--compute") return read_number(value, 0.0, options.compute_seconds);
  if (name == "--prediction") return prediction_from_name(value, options.prediction);
  if (name == "--alpha") return read_number(value, 0.0, options.alpha);
  if (name == "--beta") return read_number(value, 0.0, options.beta);
  if (name == "--ranks-per-node") return read_number(value, 1, options.ranks_per_node);
  if (name == "--level") {
    options.threads = value == "multiple";
    return options.threads || value == "single";
  }
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

std::vector<std::string> usual_operators(const Options& options) {
  if (!scans(options.operation)) return {"sum"};
  if (options.mode == Mode::arrivals) return {"bxor"};
  return {"bxor", "matrix"};
}

}  // namespace

Options parse_options(int argument_count, char** arguments) {
  Options options;
  int i = 1;
  if (i < argument_count && arguments[i][0] != '-') {
    const std::string_view mode = arguments[i++];
    options.mode = mode == "arrivals" ? Mode::arrivals
                   : mode == "thread" ? Mode::thread
                                      : Mode::calls;
    if (mode != "arrivals" && mode != "calls" && mode != "thread") {
      options.problem = "no mode " + std::string(mode);
      return options;
    }
  }
  for (; i < argument_count; ++i) {
    std::string_view name = arguments[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
      return options;
    }
    if (name == "--list") {
      options.list = true;
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
    if (!set(options, name, value)) {
      options.problem = "cannot use " + std::string(name) + " " + std::string(value);
      return options;
    }
  }
  if (options.mode == Mode::arrivals && options.cells.empty() && !options.list) {
    options.problem = "arrivals wants at least one --cell";
  }
  if (options.operators.empty()) options.operators = usual_operators(options);
  return options;
}

std::string usage(const std::string& program) {
  return "usage: " + program +
         " [calls|arrivals|thread] [option]...\n"
         "Compares Sibyl's collectives with the MPI library's own, call by call in one run:\n"
         "bare calls (calls, the default), or under arrival patterns (arrivals; `sibyl bench` "
         "runs\n"
         "it and judges the samples that it prints). Or what the thread in the background costs\n"
         "(thread).\n"
         "  --collective NAME    exscan, scan, gather, scatter, reduce, gatherv, scatterv,\n"
         "                       allgather, bcast, allreduce, or one that stands for two calls:\n"
         "                       padded-gather (allreduce of one number, gather of blocks that "
         "are\n"
         "                       as large as the largest), padded-scatter (bcast, scatter)\n"
         "                       (exscan)\n"
         "  --operators NAME,... sum (MPI_FLOAT, MPI_SUM), int-sum (MPI_INT, MPI_SUM), bxor\n"
         "                       (MPI_LONG, MPI_BXOR), matrix (2x2 products of doubles,\n"
         "                       user-defined, does not commute), modular (the same modulo a\n"
         "                       prime: exact and expensive)\n"
         "  --algorithms NAME,.. native, native:VARIANT (the MPI library's own algorithms, "
         "forced),\n"
         "                       auto, Sibyl's algorithms by name, and for exscan the "
         "hand-written\n"
         "                       loop-123, loop-recursive-doubling (as MPICH's) and loop-chain "
         "(as\n"
         "                       Open MPI's default) (all but the variants); arrivals takes\n"
         "                       COLLECTIVE/NAME too, to set one collective against another, and\n"
         "                       those of the persistent form: persistent, LIN, BSLS, ...,\n"
         "                       edges:NAME (NAME, told when half of the computation is done); "
         "and\n"
         "                       history:NAME (of reduce: told what earlier turns suggest)\n"
         "  --reference NAME     what the others are compared with (native)\n"
         "  --root R             root of gather, scatter, reduce, gatherv, scatterv (0)\n"
         "  --warm-up N          unmeasured calls before the measured ones (15)\n"
         "  --seed N             of turns, patterns and counts (1)\n"
         "  --list               print the names for --algorithms\n"
         "calls:\n"
         "  --counts N,...       elements of a vector, or of a block (1,10,100,...,100000)\n"
         "  --hold NAME,...      which must not be slower than the reference (auto)\n"
         "  --repetitions N      measurements per cell and algorithm (200)\n"
         "  --batch-us T         also measure batches of calls of about T microseconds; 0: only\n"
         "                       single calls (50)\n"
         "  --csv FILE --json FILE\n"
         "arrivals:\n"
         "  --cell bytes=N,delay=SECONDS,counts=SHAPE,pattern=SHAPE|FILE   may be repeated;\n"
         "                       block=B instead of bytes: the problems of paper 002 with B "
         "elements\n"
         "                       on average; pattern=none: bare calls, the time of the slowest "
         "rank\n"
         "  --iterations N       measurements per cell and algorithm (128)\n"
         "  --compute SECONDS    emulated computation without the delay (0.2)\n"
         "  --prediction NAME    what Sibyl's reduce is told about the arrivals: right, none, "
         "flat,\n"
         "                       shuffled (at other ranks), one-late (the last rank at a tenth of\n"
         "                       its time) (right)\n"
         "  --alpha SECONDS --beta SECONDS_PER_BYTE   of the bounds (measured)\n"
         "  --ranks-per-node K   consecutive ranks share a node: bounds count what crosses "
         "between\n"
         "                       nodes (1)\n"
         "thread:\n"
         "  --iterations N --compute SECONDS --repetitions N   as above; there are 50 times as "
         "many\n"
         "                       trips of one byte\n"
         "  --level single|multiple   of threads that MPI is asked for (multiple)\n"
         "Exit status: 0; 1 when a held algorithm is slower than allowed; 2 for a wrong command\n"
         "line; 3 when an algorithm's result is wrong.\n";
}

}  // namespace sibyl::bench
