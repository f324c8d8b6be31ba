// sibyl-bench-<flavour>: Sibyl's collectives beside the MPI library's own, interleaved.
//
// Bare calls are measured as in paper 003, section 3: MPI_LONG and MPI_BXOR, two barriers before
// each measurement, the time of the slowest rank; with a second, user-defined operator that does
// not commute. Arrival patterns as in paper 004, section 5 (arrivals.hpp). Nothing here is a
// global, since simulated ranks share a process.
#include <fmt/core.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "bench/arrivals.hpp"
#include "bench/calls.hpp"
#include "bench/contenders.hpp"
#include "bench/native_variants.hpp"
#include "bench/network.hpp"
#include "bench/report.hpp"
#include "bench/thread_cost.hpp"
#include "settle.hpp"
#include "sibyl/sibyl.h"

namespace sibyl::bench {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

Provenance look_around(const Options& options, int argument_count, char** arguments) {
  Provenance from;
  MPI_Comm_size(MPI_COMM_WORLD, &from.ranks);
  std::string version(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  version.resize(std::min(version.size(), static_cast<std::size_t>(std::max(length, 0))));
  from.mpi = version.substr(0, version.find_first_of(std::string_view(",\n\0", 3)));
  std::replace(from.mpi.begin(), from.mpi.end(), '\t', ' ');
  from.flavour = SIBYL_FLAVOUR;
  from.simulated = from.flavour == "smpi";
  int major = 0;
  int minor = 0;
  int patch = 0;
  SIBYL_Get_version(&major, &minor, &patch);
  from.sibyl = fmt::format("{}.{}.{}", major, minor, patch);
  from.cpu = cpu_model();
  // Those of the machine: the launcher may have bound this rank to one of them.
  from.cores = static_cast<unsigned>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  from.date = date;
  for (int i = 0; i < argument_count; ++i) {
    const std::string argument = arguments[i];
    // Of the program only its name: where it lies says nothing about the numbers.
    from.command += i == 0 ? argument.substr(argument.rfind('/') + 1) : " " + argument;
  }
  const int trips = std::min(options.repetitions, 100);
  from.alpha_near = half_round_trip(1, from.ranks > 1 ? 1 : 0, trips);
  from.alpha_far = half_round_trip(1, from.ranks - 1, trips);
  return from;
}

// The reference first; sets `problem` when a name is unknown.
std::vector<Side> sides_in_order(Options& options) {
  std::vector<std::string> wanted = options.contenders;
  if (wanted.empty()) {
    for (const std::string& name : contender_names(options.operation)) {
      if (!is_native_variant(name) && !names_persistent_form(name)) wanted.push_back(name);
    }
  }
  std::erase(wanted, options.reference);
  wanted.insert(wanted.begin(), options.reference);
  std::vector<Side> sides(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool crosses = wanted[i].find('/') != std::string::npos;
    if (!read_side(wanted[i], options.operation, sides[i]) ||
        (crosses && options.mode == Mode::calls)) {
      options.problem =
          fmt::format("{} has no algorithm {}", name_of(options.operation), wanted[i]);
    }
  }
  return sides;
}

bool write_file(const std::string& name, const std::string& text) {
  if (name.empty()) return true;
  std::ofstream file(name);
  file << text;
  file.close();
  if (!file) fmt::print(stderr, "cannot write {}\n", name);
  return static_cast<bool>(file);
}

int run(int argument_count, char** arguments) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Options options = parse_options(argument_count, arguments);
  const std::string program = "sibyl-bench-" SIBYL_FLAVOUR;
  if (options.help) {
    if (rank == 0) fmt::print("{}", usage(program));
    return 0;
  }
  if (options.list) {
    for (const std::string& name : contender_names(options.operation)) {
      if (rank == 0) fmt::print("{}\n", name);
    }
    return 0;
  }
  const std::vector<Side> sides = sides_in_order(options);
  std::vector<std::unique_ptr<Operator>> operators;
  for (const std::string& name : options.operators) {
    operators.push_back(std::make_unique<Operator>(name));
    if (!operators.back()->valid()) options.problem = "no operator " + name;
  }
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (options.root >= ranks)
    options.problem = fmt::format("no root {} of {} ranks", options.root, ranks);
  if (!options.problem.empty()) {
    if (rank == 0) fmt::print(stderr, "{}: {}\n{}", program, options.problem, usage(program));
    return 2;
  }

  const Provenance provenance = look_around(options, argument_count, arguments);
  if (options.mode == Mode::thread) return run_thread_cost(options, provenance);
  if (options.mode == Mode::arrivals) {
    operators.clear();
    return run_arrivals(options, provenance, sides);
  }
  std::vector<Cell> cells;
  {
    std::vector<std::unique_ptr<Contender>> contenders;
    contenders.reserve(sides.size());
    for (const Side& side : sides) contenders.push_back(std::make_unique<Contender>(side));
    for (const auto& op : operators) {
      for (const int count : options.counts) {
        cells.push_back(measure(options, *op, count, contenders));
      }
    }
  }
  int status = 0;
  if (rank == 0) {
    const Findings findings = judge(options, provenance, cells);
    fmt::print("{}", to_table(options, provenance, findings));
    const bool written = write_file(options.csv, to_csv(options, provenance, findings)) &&
                         write_file(options.json, to_json(options, provenance, findings));
    if (findings.violated) status = 1;
    if (!written) status = 2;
    if (!findings.wrong.empty()) status = 3;
  }
  MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return status;
}

}  // namespace
}  // namespace sibyl::bench

// Exported: smpirun looks the function up in the loaded program.
SIBYL_EXPORT int main(int argument_count, char** arguments) {
  const sibyl::bench::Options asked = sibyl::bench::parse_options(argument_count, arguments);
  bool threads = asked.mode == sibyl::bench::Mode::thread && asked.threads;
  for (int i = 1; i < argument_count; ++i) {
    if (std::string_view(arguments[i - 1]) == "--algorithms") {
      threads = sibyl::bench::names_persistent_form(arguments[i]);
    }
    if (std::string_view(arguments[i]).find("native:") != std::string_view::npos ||
        std::string_view(arguments[i]) == "--list") {
      sibyl::bench::allow_native_variants();
    }
  }
  // Bare calls of a program without threads pay for none.
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argument_count, &arguments, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &level);
  const int status = sibyl::bench::run(argument_count, arguments);
  if (std::string_view(SIBYL_FLAVOUR) != "smpi") sibyl::settle();
  MPI_Finalize();
  return status;
}
