// When each rank joined each collective: kept per communicator and written at MPI_Finalize when
// SIBYL_RECORD names a directory. `sibyl run --record` puts the ranks' files together.
//
// A call is found again on other ranks by its number on the communicator, and the communicator by
// its ranks of MPI_COMM_WORLD and by how many communicators of the same ranks had a state before.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrival/site_history.hpp"
#include "sibyl/arrival.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

struct RecordedCall {
  std::uint64_t number = 0;  // counts the calls on the communicator
  Collective collective = Collective::exscan;
  int root = no_rank;
  std::uint64_t bytes = 0;  // what this rank contributed or received
  std::chrono::steady_clock::time_point arrival;
  std::chrono::steady_clock::time_point departure = arrival;
  // Where calls are predicted: who served this one, and by which version of the site's pattern.
  std::optional<Service> service = std::nullopt;
  std::uint64_t version = 0;
};

// A pattern that came into force.
struct RecordedPattern {
  Collective collective = Collective::gather;
  int root = no_rank;
  std::uint64_t bytes = 0;
  ArrivalPattern pattern;
};

// Of one communicator: no lock, since its collectives run one at a time.
struct CommunicatorRecording {
  std::vector<int> group;  // its ranks of MPI_COMM_WORLD; empty: nothing is recorded
  std::uint64_t ordinal = 0;
  std::vector<RecordedCall> calls;
  std::vector<RecordedPattern> patterns;

  // A call for which there is no memory is left out: nobody's program ends for a recording.
  void add(const RecordedCall& call) noexcept {
    if (group.empty()) return;
    try {
      calls.push_back(call);
    } catch (const std::bad_alloc&) {
      return;
    }
  }
  void add(const RecordedPattern& pattern) noexcept {
    if (group.empty()) return;
    try {
      patterns.push_back(pattern);
    } catch (const std::bad_alloc&) {
      return;
    }
  }
};

// Of the process. Guarded by its owner.
class ProcessRecording {
 public:
  // Which communicator of this group comes now.
  std::uint64_t ordinal_of(const std::vector<int>& group) { return seen_[group]++; }
  void take(CommunicatorRecording recording) { ended_.push_back(std::move(recording)); }
  // {"version":1,"mpi":...,"rank":...,"world_size":...,"clock":...,"wall_minus_clock":...,
  //  "communicators":[{"group":[...],"ordinal":...,"calls":[[number,"gather",root,bytes,ns],...],
  //                    "patterns":[["gather",root,bytes,version,[ns,...]],...]}]}
  // A predicted call has three words more: when the rank left it, by whom it was served (native,
  // fixed or predicted), and the version of the pattern.
  std::string to_json(std::string_view mpi, int rank, int world_size) const;

 private:
  std::map<std::vector<int>, std::uint64_t> seen_;
  std::vector<CommunicatorRecording> ended_;
};

}  // namespace sibyl
