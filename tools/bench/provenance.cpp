// The machine, the MPI and the command of a run; see provenance.hpp.
#include "bench/provenance.hpp"

#include <fmt/core.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

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

}  // namespace

Provenance look_around(int argument_count, char** arguments) {
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
  return from;
}

nlohmann::ordered_json to_json(const Provenance& from) {
  return {{"type", "begin"},         {"date", from.date},   {"mpi", from.mpi},
          {"flavour", from.flavour}, {"sibyl", from.sibyl}, {"cpu", from.cpu},
          {"cores", from.cores},     {"ranks", from.ranks}, {"simulated", from.simulated},
          {"command", from.command}};
}

}  // namespace sibyl::bench
