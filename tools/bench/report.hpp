// What a run found, for people (table), for spreadsheets (CSV) and for other programs (JSON).
#pragma once

#include <string>
#include <vector>

#include "bench/calls.hpp"
#include "bench/options.hpp"
#include "bench/statistics.hpp"

namespace sibyl::bench {

// Where the numbers come from.
struct Provenance {
  std::string mpi;      // the library's own words, first line
  std::string flavour;  // openmpi, mpich or smpi
  std::string sibyl;    // version
  std::string cpu;
  unsigned cores = 0;
  std::string date;  // UTC
  std::string command;
  int ranks = 1;
  double alpha_near = 0;  // half a round trip of one byte between ranks 0 and 1
  double alpha_far = 0;   // and between rank 0 and the last
  bool simulated = false;
};

// One contender in one cell and mode, compared with the reference of the same repetitions.
struct Line {
  std::string operator_name;
  int count = 0;
  std::size_t bytes = 0;
  int batch_size = 1;  // 1: single calls
  std::string contender;
  bool is_reference = false;
  bool held = false;  // must not be slower
  double least = 0;   // seconds
  double median = 0;
  double quarter = 0;  // first and third quartile
  double three_quarters = 0;
  double ratio = 1;               // median of the paired ratios to the reference
  Interval ratio_interval;        // 95 % of that median
  double bound = 0;               // seconds that no algorithm of the model can beat
  double whole_vector_bound = 0;  // the same for algorithms that send whole vectors in every round
  double p_slower = 1;            // of "slower by more than the margin", corrected
  double p_faster = 1;            // of "faster", corrected
  bool violates = false;
  bool faster = false;
};

struct Findings {
  std::vector<Line> lines;
  std::vector<std::string> wrong;  // one line per result that differs
  bool violated = false;
};

Findings judge(const Options& options, const Provenance& provenance,
               const std::vector<Cell>& cells);

std::string to_table(const Options& options, const Provenance& provenance,
                     const Findings& findings);
std::string to_csv(const Options& options, const Provenance& provenance, const Findings& findings);
std::string to_json(const Options& options, const Provenance& provenance, const Findings& findings);

}  // namespace sibyl::bench
