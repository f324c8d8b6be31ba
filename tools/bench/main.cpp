// sibyl-bench-<flavour>: Sibyl's collectives beside the MPI library's own, interleaved.
//
// Bare calls are measured as in Traeff 2025, section 3: MPI_LONG and MPI_BXOR, two barriers before
// each measurement, the time of the slowest rank; with a second, user-defined operator that does
// not commute. Arrival patterns as in Proficz 2020, section 5 (arrivals.hpp). Nothing here is a
// global, since simulated ranks share a process.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "bench/arrivals.hpp"
#include "bench/calls.hpp"
#include "bench/contenders.hpp"
#include "bench/native_variants.hpp"
#include "bench/preload.hpp"
#include "bench/provenance.hpp"
#include "bench/thread_cost.hpp"
#include "communicator/process.hpp"
#include "settle.hpp"
#include "sibyl/sibyl.h"

namespace sibyl::bench {
namespace {

// Of a contender that takes no part nothing is shown; sets `problem` where one was asked for.
void hold_those_there(Options& options, const std::vector<std::string>& contenders) {
  const auto is_there = [&](const std::string& name) {
    return std::ranges::find(contenders, name) != contenders.end();
  };
  if (options.held.empty() && is_there("auto")) options.held = {"auto"};
  for (const std::string& name : options.held) {
    if (name != options.reference && !is_there(name)) {  // the reference: nobody is held
      options.problem =
          fmt::format("--hold {}: it takes no part; name it in --algorithms too", name);
    }
  }
}

// The reference first; sets `problem` when a name is unknown.
std::vector<Side> sides_in_order(Options& options) {
  std::vector<std::string> wanted = options.contenders;
  if (wanted.empty()) {
    for (const std::string& name : contender_names(options.operation)) {
      const bool by_name =
          is_native_variant(name) || names_persistent_form(name) || is_control(name);
      if (!by_name) wanted.push_back(name);
    }
  }
  std::erase(wanted, options.reference);
  if (options.mode == Mode::calls) hold_those_there(options, wanted);
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

// What is wrong with a SIBYL_ variable at some rank, told by the first such rank: the library would
// refuse every call, and a simulated MPI ends as a whole there.
bool refuses_environment(const std::string& program, int rank, int ranks) {
  const Process* const process = Process::get();
  const std::string problem = process == nullptr ? "no memory" : process->problem();
  const int own = problem.empty() ? ranks : rank;
  int first = ranks;
  MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == rank) fmt::print(stderr, "{}: {}\n", program, problem);
  return first < ranks;
}

int run(Options options, int argument_count, char** arguments) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string program = "sibyl-bench-" SIBYL_FLAVOUR;
  if (!options.help.empty()) {
    if (rank == 0) fmt::print("{}", options.help);
    return 0;
  }
  if (options.list && options.problem.empty()) {
    for (const std::string& name : contender_names(options.operation)) {
      if (rank == 0) fmt::print("{}\n", name);
    }
    return 0;
  }
  std::vector<Side> sides;
  if (options.problem.empty()) sides = sides_in_order(options);
  for (const std::string& name : options.operators) {
    if (!Operator(name).valid()) options.problem = "no operator " + name;
  }
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (options.root >= ranks)
    options.problem = fmt::format("no root {} of {} ranks", options.root, ranks);
  const auto is_governed = [](const Side& side) { return side.algorithm == governed; };
  const bool calls = !is_simulated && options.mode != Mode::thread && options.problem.empty();
  if (calls && std::ranges::any_of(sides, is_governed) && !has_preload()) {
    std::erase_if(sides, is_governed);
    if (!options.contenders.empty()) {  // asked for by name
      options.problem =
          "governed is called through libsibyl-preload.so, which was not found on all ranks; set "
          "SIBYL_LIBRARY_DIR to the directory that has it";
    }
  }
  if (!options.problem.empty()) {
    if (rank == 0) fmt::print(stderr, "{}: {}\n", program, options.problem);
    return 2;
  }
  if (refuses_environment(program, rank, ranks)) return 2;

  const Provenance provenance = look_around(argument_count, arguments);
  switch (options.mode) {
    case Mode::thread:
      return run_thread_cost(options, provenance);
    case Mode::arrivals:
      return run_arrivals(options, provenance, sides);
    case Mode::calls:
      break;
  }
  return run_calls(options, provenance, sides);
}

}  // namespace
}  // namespace sibyl::bench

// Exported: smpirun looks the function up in the loaded program.
SIBYL_EXPORT int main(int argument_count, char** arguments) {
  using namespace sibyl::bench;
  const Options options = parse_options(argument_count, arguments);
  bool threads =
      (options.mode == Mode::thread && options.threads) || names_persistent_form(options.reference);
  bool variants = options.list || options.reference.starts_with("native:");
  for (const std::string& name : options.contenders) {
    threads = threads || names_persistent_form(name);
    variants = variants || name.find("native:") != std::string::npos;
  }
  if (variants) allow_native_variants();
  // Where Sibyl is a component of Open MPI it stands aside: what is called native is the library's.
  setenv("OMPI_MCA_coll_sibyl_priority", "0", 1);
  // Bare calls of a program without threads pay for none.
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argument_count, &arguments, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &level);
  const int status = run(options, argument_count, arguments);
  if (std::string_view(SIBYL_FLAVOUR) != "smpi") sibyl::settle();
  MPI_Finalize();
  return status;
}
