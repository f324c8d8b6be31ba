// sibyl-bench-scan-<flavour>: Sibyl's collectives beside the MPI library's own, interleaved.
//
// The procedure is that of paper 003, section 3: MPI_LONG and MPI_BXOR, two barriers before each
// measurement, the time of the slowest rank; with a second, user-defined operator that does not
// commute. Nothing here is a global, since simulated ranks share a process.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "bench/contenders.hpp"
#include "bench/measure.hpp"
#include "bench/report.hpp"
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
  from.cores = std::thread::hardware_concurrency();
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

// The reference first; empty and `problem` set when a name is unknown.
std::vector<std::string> names_in_order(Options& options) {
  const std::vector<std::string> known = contender_names(options.collective);
  std::vector<std::string> wanted = options.contenders.empty() ? known : options.contenders;
  std::erase(wanted, options.reference);
  wanted.insert(wanted.begin(), options.reference);
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      options.problem = fmt::format("{} has no algorithm {}", name_of(options.collective), name);
    }
  }
  return wanted;
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
  const std::string program = "sibyl-bench-scan-" SIBYL_FLAVOUR;
  if (options.help) {
    if (rank == 0) fmt::print("{}", usage(program));
    return 0;
  }
  const std::vector<std::string> names = names_in_order(options);
  std::vector<std::unique_ptr<Operator>> operators;
  for (const std::string& name : options.operators) {
    operators.push_back(std::make_unique<Operator>(name));
    if (!operators.back()->valid()) options.problem = "no operator " + name;
  }
  if (!options.problem.empty()) {
    if (rank == 0) fmt::print(stderr, "{}: {}\n{}", program, options.problem, usage(program));
    return 2;
  }

  const Provenance provenance = look_around(options, argument_count, arguments);
  std::vector<Cell> cells;
  {
    std::vector<std::unique_ptr<Contender>> contenders;
    for (const std::string& name : names) {
      contenders.push_back(std::make_unique<Contender>(options.collective, name));
    }
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
  MPI_Init(&argument_count, &arguments);
  const int status = sibyl::bench::run(argument_count, arguments);
  MPI_Finalize();
  return status;
}
