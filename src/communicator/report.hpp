// What was served, by what, how often and how long: counted per communicator, merged per process,
// written at MPI_Finalize when SIBYL_REPORT names a directory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "selection/settings.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {

struct CallCount {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;  // what this rank contributed or received, packed
  std::uint64_t nanoseconds = 0;
};

// Counters of one communicator: no lock, since its collectives run one at a time.
class CommunicatorReport {
 public:
  // `algorithm` is nullptr for calls served by the MPI library.
  CallCount& line(Collective collective, const Algorithm* algorithm) {
    const std::size_t row =
        algorithm == nullptr
            ? 0
            : 1 + static_cast<std::size_t>(algorithm - algorithms(collective).data());
    return lines_[static_cast<std::size_t>(collective)][row];
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t c = 0; c < lines_.size(); ++c) {
      for (std::size_t row = 0; row < lines_[c].size(); ++row) {
        if (lines_[c][row].calls == 0) continue;
        const auto collective = static_cast<Collective>(c);
        visit(collective, row == 0 ? "native" : algorithms(collective)[row - 1].name,
              lines_[c][row]);
      }
    }
  }

 private:
  static constexpr std::size_t rows = 16;  // native and the algorithms of one collective
  std::array<std::array<CallCount, rows>, collective_count> lines_{};
};

// Counters of the process. Guarded by its owner.
class ProcessReport {
 public:
  void merge(const CommunicatorReport& report, int communicator_size);
  // {"version":1,"mpi":...,"rank":...,"world_size":...,"entries":[...]}
  std::string to_json(const std::string& mpi, int rank, int world_size) const;

 private:
  std::map<std::tuple<Collective, int, std::string>, CallCount> lines_;
};

}  // namespace sibyl
