// Where the numbers of a run come from.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sibyl::bench {

struct Provenance {
  std::string mpi;      // the library's own words, first line
  std::string flavour;  // openmpi, mpich or smpi
  std::string sibyl;    // version
  std::string cpu;
  unsigned cores = 0;
  std::string date;  // UTC
  std::string command;
  int ranks = 1;
  bool simulated = false;
};

// Collective over MPI_COMM_WORLD.
Provenance look_around(int argument_count, char** arguments);

// The line "begin" with which the samples of a run begin.
nlohmann::ordered_json to_json(const Provenance& from);

}  // namespace sibyl::bench
