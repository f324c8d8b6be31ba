// Reads the command line; see options.hpp.
#include "bench/options.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

#include "command_line.hpp"

namespace sibyl::bench {
namespace {

using command_line::from;
using command_line::refuse;

template <class Number>
bool read_number(std::string_view text, Number least, Number& value) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && rest == text.data() + text.size() && value >= least;
}

// KEY=VALUE,...,pattern=VALUE: the pattern comes last, since a file's name may hold commas.
bool read_cell(std::string_view text, ArrivalCell& cell) {
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
  return cell.bytes == 0 || cell.block == 0;
}

std::string operation_names() {
  std::string names;
  for (const OperationTraits& row : operations()) {
    if (!names.empty()) names += ", ";
    names += row.name;
  }
  return names;
}

std::vector<std::string> usual_operators(const Options& options) {
  if (!scans(options.operation)) return {"sum"};
  if (options.mode == Mode::arrivals) return {"bxor"};
  return {"bxor", "matrix"};
}

// A list between commas, as one word.
template <class Value>
CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<Value>& values,
                      const std::string& what) {
  return app.add_option(name, values, what)->delimiter(',')->allow_extra_args(false);
}

void add_shared(CLI::App& app, Options& options) {
  app.add_option_function<std::string>(
         "--collective",
         [&options](const std::string& name) {
           if (!operation_from_name(name, options.operation)) {
             refuse("--collective", name, "one of " + operation_names());
           }
         },
         "one of " + operation_names() +
             "; padded-gather (allreduce of one number, gather of blocks that are as large as the "
             "largest), padded-scatter (bcast, scatter), padded-alltoall and X+Y stand for two "
             "calls, X-by-Y for an X by a call of Y (exscan)")
      ->option_text("NAME");
  add_list(app, "--operators", options.operators,
           "sum (MPI_FLOAT, MPI_SUM), int-sum (MPI_INT, MPI_SUM), bxor (MPI_LONG, MPI_BXOR), "
           "matrix (2x2 products of doubles, user-defined, does not commute), modular (the same "
           "modulo a prime: exact and expensive)")
      ->option_text("NAME,...");
  add_list(
      app, "--algorithms", options.contenders,
      "native, native-again (the same on another communicator: what a comparison finds where "
      "nothing differs), native:VARIANT (the MPI library's own algorithms, forced), auto, Sibyl's "
      "algorithms by name, and for exscan the hand-written loop-123, loop-recursive-doubling "
      "(as MPICH's) and loop-chain (as Open MPI's default) (all but the variants and "
      "native-again); arrivals "
      "takes COLLECTIVE/NAME too, to set one collective against another, and those of the "
      "persistent form: persistent, LIN, BSLS, ..., NAME@K (K transfers of its root under way), "
      "none:NAME and shuffled:NAME (those that are sorted: told nothing, told others' times), "
      "edges:NAME (NAME, told when half of the computation is done); PREDICTION:NAME (of reduce, "
      "allreduce, bcast: told what --prediction of that name would say); history:NAME (of reduce: "
      "told what earlier turns suggest); piggyback:NAME (of allreduce: learns from its own "
      "messages); native:VARIANT@BYTES (of Open MPI: in segments of BYTES)")
      ->option_text("NAME,...");
  app.add_option("--reference", options.reference, "what the others are compared with (native)")
      ->option_text("NAME");
  app.add_option("--root", options.root, "of collectives that have one (0)")
      ->check(from(0))
      ->option_text("R");
  app.add_option("--warm-up", options.warm_up, "unmeasured calls before the measured ones (15)")
      ->check(from(0))
      ->option_text("N");
  app.add_option("--seed", options.seed, "of turns, patterns and counts (1)")
      ->check(from(0U))
      ->option_text("N");
  app.add_flag("--list", options.list, "print the names for --algorithms");
}

void add_calls(CLI::App& app, Options& options) {
  add_list(
      app, "--counts", options.counts,
      "elements of a vector, or of a block: of reduce-scatters, allgathers and all-to-alls too "
      "(1,10,100,...,100000); a barrier has none")
      ->check(from(1))
      ->option_text("N,...");
  add_list(app, "--hold", options.held,
           "which must not be slower than the reference, for whoever judges (auto, if it is there)")
      ->option_text("NAME,...");
  app.add_option("--repetitions", options.repetitions,
                 "measurements per cell and algorithm (200); of thread a 50th of the trips of one "
                 "byte")
      ->check(from(1))
      ->option_text("N");
  app.add_option_function<double>(
         "--batch-us", [&options](double time) { options.batch_seconds = time * 1e-6; },
         "also measure batches of calls of about T microseconds; 0: only single calls (50)")
      ->check(from(0.0))
      ->option_text("T");
}

void add_arrivals(CLI::App& app, Options& options) {
  app.add_option_function<std::vector<std::string>>(
         "--cell",
         [&options](const std::vector<std::string>& texts) {
           options.cells.clear();
           for (const std::string& text : texts) {
             ArrivalCell cell;
             if (!read_cell(text, cell)) {
               refuse("--cell", text, "bytes=N,delay=SECONDS,counts=SHAPE,pattern=SHAPE|FILE");
             }
             options.cells.push_back(cell);
           }
         },
         "bytes=N,delay=SECONDS,counts=SHAPE,pattern=SHAPE|FILE; may be repeated; bytes in all "
         "(gathers, scatters, allgathers) or of a rank (its vector, or all that it sends in an "
         "all-to-all); none in a barrier; block=B instead "
         "of bytes: the problems of Traeff 2017 with B elements on average; pattern=none: bare "
         "calls, the time of the slowest rank")
      ->allow_extra_args(false)
      ->option_text("CELL");
  app.add_option("--iterations", options.iterations,
                 "measurements per cell and algorithm, or turns of thread (128)")
      ->check(from(1))
      ->option_text("N");
  app.add_option("--compute", options.compute_seconds,
                 "emulated computation without the delay (0.2)")
      ->check(from(0.0))
      ->option_text("SECONDS");
  const std::string predictions = "right, none, flat, shuffled, one-late or false-late";
  app.add_option_function<std::string>(
         "--prediction",
         [&options, predictions](const std::string& name) {
           if (!prediction_from_name(name, options.prediction)) {
             refuse("--prediction", name, predictions);
           }
         },
         "what Sibyl's reduce, allreduce and bcast are told about the arrivals: right, none, flat, "
         "shuffled (at other ranks), one-late (the last rank at a tenth of its time), false-late "
         "(the highest rank later than it comes, by --compute) (right)")
      ->option_text("NAME");
  app.add_option("--alpha", options.alpha, "of the bounds (measured)")
      ->check(from(0.0))
      ->option_text("SECONDS");
  app.add_option("--beta", options.beta, "of the bounds (measured)")
      ->check(from(0.0))
      ->option_text("SECONDS_PER_BYTE");
  app.add_option("--ranks-per-node", options.ranks_per_node,
                 "consecutive ranks share a node: bounds count what crosses between nodes (1)")
      ->check(from(1))
      ->option_text("K");
}

}  // namespace

Options parse_options(int argument_count, char** arguments) {
  Options options;
  CLI::App app(
      "Measures Sibyl's collectives beside the MPI library's own, call by call in one run: bare\n"
      "calls (calls, the default; `sibyl bench calls` judges the samples), or under arrival\n"
      "patterns (arrivals; `sibyl bench` runs it and judges). Or what the thread in the\n"
      "background costs (thread). Prints raw samples, one JSON object a line.");
  app.footer("Exit status: 0; 2 for a wrong command line; 3 when a result is wrong.");
  std::string mode = "calls";
  app.add_option("mode", mode, "calls, arrivals or thread")->option_text("");
  add_shared(app, options);
  add_calls(app, options);
  add_arrivals(app, options);
  app.add_option_function<std::string>(
         "--level",
         [&options](const std::string& level) {
           options.threads = level == "multiple";
           if (!options.threads && level != "single") {
             refuse("--level", level, "single or multiple");
           }
         },
         "of threads that MPI is asked for by thread (multiple)")
      ->option_text("single|multiple");

  const command_line::Outcome outcome = command_line::read(app, argument_count, arguments);
  options.help = outcome.help;
  options.problem = outcome.problem;
  if (!options.help.empty() || !options.problem.empty()) return options;
  options.mode = mode == "arrivals" ? Mode::arrivals
                 : mode == "thread" ? Mode::thread
                                    : Mode::calls;
  if (mode != "calls" && options.mode == Mode::calls) {
    options.problem = "no mode " + mode + ": say calls, arrivals or thread";
  }
  if (options.mode == Mode::arrivals && options.cells.empty() && !options.list) {
    options.problem = "arrivals wants at least one --cell";
  }
  for (const ArrivalCell& cell : options.cells) {
    const bool has_data = cell.bytes > 0 || cell.block > 0;
    if (has_data == (options.operation == Operation::barrier)) {
      options.problem = has_data ? "a barrier has no bytes" : "--cell wants bytes=N or block=B";
    }
  }
  if (options.operators.empty()) options.operators = usual_operators(options);
  return options;
}

}  // namespace sibyl::bench
