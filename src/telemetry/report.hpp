// What was served, by what, how often and how long: counted per communicator, merged per process,
// written at MPI_Finalize when SIBYL_REPORT names a directory.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "governor/verdict.hpp"
#include "selection/choose.hpp"
#include "selection/settings.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {

// Why the MPI library serves a call.
enum class LeftNative : std::uint8_t {
  not_served,  // the communicator is not, or not yet
  by_choice,   // as what is asked for or takes least time
  arguments,   // nothing of Sibyl's serves such types, operators or sizes
  governor,    // which has found it to be faster there, or tries it
};
inline constexpr std::array<std::string_view, 4> left_native_names{"not served", "choice",
                                                                   "arguments", "governor"};

struct CallCount {
  std::uint64_t calls = 0;
  std::array<std::uint64_t, left_native_names.size()> left_native{};  // calls, by LeftNative
  std::uint64_t bytes = 0;  // what this rank contributed or received, packed
  std::uint64_t nanoseconds = 0;

  void add(std::uint64_t of_call, std::chrono::nanoseconds took) {
    ++calls;
    bytes += of_call;
    nanoseconds += static_cast<std::uint64_t>(took.count());
  }
};

// A call site that the governor has looked at (governor/governor.hpp).
struct GovernedSite {
  Collective collective = Collective::exscan;
  bool persistent = false;  // a request's
  int root = -1;
  std::uint64_t least_bytes = 0;  // of its size class; both 0 where not all ranks know the size
  std::uint64_t most_bytes = 0;
  std::string algorithm;   // that was chosen
  std::string challenger;  // that comes next by the model; empty: none
  int line = 0;            // which of several lines of the program with such calls; 0: of all
  bool decided = false;
  Arm served_by = Arm::own;
  std::uint64_t calls = 0;
  std::uint64_t native_calls = 0;
  std::uint64_t challenger_calls = 0;
  // By Arm: what a call cost in the last trial of the arm (governor/judge.hpp).
  std::array<double, arm_count> seconds{};
  // What its calls by other arms than the cheapest have taken longer, by these.
  double lost_seconds = 0;
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

  // A call of a persistent request, which may end in any thread.
  void count_persistent(Collective collective, const Algorithm* algorithm, std::uint64_t bytes,
                        double seconds) {
    const std::lock_guard<std::mutex> lock(persistent_);
    CallCount& line = lines_of_requests_[{collective, algorithm}];
    ++line.calls;
    line.bytes += bytes;
    line.nanoseconds += static_cast<std::uint64_t>(seconds * 1e9);
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
    const std::lock_guard<std::mutex> lock(persistent_);
    for (const auto& [key, line] : lines_of_requests_) {
      const auto& [collective, algorithm] = key;
      visit(collective, algorithm == nullptr ? "native" : algorithm->name, line);
    }
  }

  // Filled in when the governor ends: its sites, and what its agreements have taken on this rank.
  std::vector<GovernedSite> governed;
  double governing_seconds = 0;

  static constexpr std::size_t rows = 16;  // native and the algorithms of one collective, at most

 private:
  std::array<std::array<CallCount, rows>, collective_count> lines_{};
  mutable std::mutex persistent_;
  std::map<std::pair<Collective, const Algorithm*>, CallCount> lines_of_requests_;
};

// Counters of the process. Guarded by its owner.
class ProcessReport {
 public:
  void merge(const CommunicatorReport& report, int communicator_size);
  // A call of a collective that Sibyl has no algorithms for.
  void count_native(std::string_view collective, int communicator_size,
                    std::chrono::nanoseconds took);
  // What was measured on communicators of so many ranks on so many nodes; the last one holds.
  void note_costs(int communicator_size, int nodes, const Costs& costs) {
    costs_[{communicator_size, nodes}] = costs;
  }
  // {"version":1,"mpi":...,"rank":...,"world_size":...,"thread":...,"entries":[...]}; `thread` says
  // whether there was one in the background ("runs"), or why not; an entry of the MPI library's
  // says in "reasons" how many of its calls were left to it why. Where there was a governor,
  // "governed" has its call sites and "governing_seconds" what it has taken; where costs were
  // measured, "costs" has them.
  std::string to_json(const std::string& mpi, int rank, int world_size,
                      std::string_view thread) const;

 private:
  void merge(const GovernedSite& site, int communicator_size);
  std::string governed_to_json() const;
  std::string costs_to_json() const;

  std::map<std::tuple<Collective, int, std::string>, CallCount> lines_;
  // Sites that a report does not tell apart, as of several operators or communicators: the calls of
  // all, and what was found at the one with most of them.
  struct Governed {
    GovernedSite site;
    std::uint64_t most_calls = 0;
  };
  // By collective, communicator size, whether it is a request's, root, bytes, algorithm, challenger
  // and line.
  std::map<std::tuple<Collective, int, bool, int, std::uint64_t, std::string, std::string, int>,
           Governed>
      governed_;
  double governing_seconds_ = 0;
  std::map<std::pair<std::string, int>, CallCount> lines_of_others_;
  std::map<std::pair<int, int>, Costs> costs_;  // by communicator size and nodes
};

}  // namespace sibyl
