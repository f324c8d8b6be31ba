// Every environment variable that Sibyl reads, in one documented place.
//
// The page docs/reference/environment.md is generated from environment_variables(), and a test
// holds the two together. Values are read once per process; what concerns the choice of algorithms
// is agreed on when a communicator is set up (rank 0's values hold), see
// src/communicator/agreement.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sibyl {

// In the place of bytes: a shared window where one node holds all ranks and it is known to pay.
inline constexpr std::uint32_t window_where_it_pays = std::numeric_limits<std::uint32_t>::max();

struct EnvironmentVariable {
  std::string_view name;
  std::string_view values;
  std::string_view standard;  // the value that holds when the variable is not set
  std::string_view unit;
  std::string_view meaning;
};

// The variables that name the algorithm of a collective, in the order of Collective
// (sibyl/schedule.hpp).
inline constexpr std::array<const char*, 16> algorithm_variables{"SIBYL_EXSCAN",
                                                                 "SIBYL_SCAN",
                                                                 "SIBYL_GATHER",
                                                                 "SIBYL_SCATTER",
                                                                 "SIBYL_GATHERV",
                                                                 "SIBYL_SCATTERV",
                                                                 "SIBYL_REDUCE",
                                                                 "SIBYL_ALLREDUCE",
                                                                 "SIBYL_BCAST",
                                                                 "SIBYL_REDUCE_SCATTER",
                                                                 "SIBYL_REDUCE_SCATTER_BLOCK",
                                                                 "SIBYL_ALLGATHER",
                                                                 "SIBYL_ALLGATHERV",
                                                                 "SIBYL_ALLTOALL",
                                                                 "SIBYL_ALLTOALLV",
                                                                 "SIBYL_BARRIER"};

// The variables as the process found them, checked for form; names of algorithms are checked where
// the table of algorithms is known (src/selection/settings.hpp).
struct Environment {
  // By collective, in the order of algorithm_variables.
  std::array<std::string, 16> algorithm = [] {
    std::array<std::string, 16> all;
    all.fill("auto");
    return all;
  }();
  std::uint32_t first_segment = 1024;        // bytes
  std::optional<std::uint32_t> outstanding;  // transfers; by the collective where it is not set
  std::optional<std::uint32_t> direct_from;  // bytes; by the costs where it is not set
  std::uint32_t construct_every = 64;        // calls
  std::uint32_t lanes = 0;                   // between nodes; 0: by costs
  std::uint32_t segments = 0;                // of Clairvoyant; 0: by bytes, ranks and costs
  std::uint32_t alpha = 0;                   // nanoseconds; 0: measured
  std::uint32_t overhead = 0;                // nanoseconds; 0: measured
  std::uint32_t beta = 0;                    // picoseconds per byte; 0: measured
  std::uint32_t communicators = 256;         // private communicators per process
  std::optional<std::uint32_t> serve_from;   // calls; 3 where it is not set, 1 for the world
  std::uint32_t reproducible = 0;            // 1: reductions give the same bits in every run
  std::uint32_t node_window = window_where_it_pays;  // bytes; 0: no shared window
  std::string device = "auto";                       // native, off
  std::string predict = "piggyback";                 // off, root-led, periodic, background
  std::uint32_t govern = 1;    // 0: nothing is held against the MPI library's own
  std::uint32_t thread = 1;    // 0: nothing runs in the background
  std::string table;           // file; empty: no selection table
  std::string arrivals;        // pattern or file; empty: nothing is known
  std::string report;          // directory; empty: no report
  std::string record;          // directory; empty: no arrivals are recorded
  std::string test_placement;  // nodes of ranks; empty: their hosts
  // 1: on one node, too, Sibyl serves what no algorithm shortens
  std::uint32_t test_serve = 0;
  std::string problem;  // empty, or one line that says which value is wrong and how to mend it

  friend bool operator==(const Environment&, const Environment&) = default;
};

std::span<const EnvironmentVariable> environment_variables();

// A variable of the process; null where it is not set, and always in a program that runs with more
// rights than whoever started it (set-user-ID, set-group-ID, file capabilities: AT_SECURE), whose
// environment must not say which files and libraries it opens.
const char* process_variable(const char* name);

// Reads the process environment through `lookup` (process_variable in the library; a test hands in
// its own), so that nothing is read twice. A value of the wrong form leaves its default and sets
// `problem`.
using EnvironmentLookup = const char* (*)(const char* name);
Environment read_environment(EnvironmentLookup lookup);

// The page docs/reference/environment.md.
std::string environment_markdown();

}  // namespace sibyl
