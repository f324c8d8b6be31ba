// When each rank joined each collective: kept per communicator and written at MPI_Finalize when
// SIBYL_RECORD names a directory. `sibyl run --record` puts the ranks' files together.
//
// A call is found again on other ranks by its number on the communicator, and the communicator by
// its ranks of MPI_COMM_WORLD and by how many communicators of the same ranks had a state before.
#pragma once

#include <atomic>
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
  // Where calls are predicted: who served this one, and by which version of the
  // site's arrival pattern.
  std::optional<Service> service = std::nullopt;
  std::uint64_t version = 0;
};

// An arrival pattern that came into force.
struct RecordedPattern {
  Collective collective = Collective::gather;
  int root = no_rank;
  std::uint64_t bytes = 0;
  ArrivalPattern pattern;
};

// What a process may still record, so that a program that runs for days does not fill its memory
// with what was the same all the time. Communicators of several threads share it.
class RecordingRoom {
 public:
  // Of all communicators of a process, some 100 MB in memory and in its file.
  static constexpr std::int64_t most_calls = 1'000'000;
  explicit RecordingRoom(std::int64_t calls = most_calls) : left_(calls) {}

  // Whether there is room for so many calls more; nothing is recorded after the first refusal.
  bool take(std::int64_t calls) noexcept {
    if (left_.fetch_sub(calls, std::memory_order_relaxed) >= calls) return true;
    left_.store(0, std::memory_order_relaxed);
    return false;
  }
  void leave_out() noexcept { left_out_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t left_out() const { return left_out_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> left_;
  std::atomic<std::uint64_t> left_out_ = 0;  // calls
};

// Of one communicator: no lock, since its collectives run one at a time.
struct CommunicatorRecording {
  RecordingRoom* room = nullptr;  // of the process; without one there is no bound
  std::vector<int> group;         // its ranks of MPI_COMM_WORLD; empty: nothing is recorded
  std::uint64_t ordinal = 0;
  std::vector<RecordedCall> calls;
  std::vector<RecordedPattern> patterns;
  // What a message takes, in seconds: in any case, and per byte; 0: not measured.
  double message_seconds = 0;
  double byte_seconds = 0;

  // A call for which there is no room or no memory is left out: nobody's program ends for a
  // recording.
  void add(const RecordedCall& call) noexcept {
    if (group.empty()) return;
    // With the first one the communicator itself is kept.
    const std::size_t itself = calls.empty() ? group.size() * sizeof(int) / sizeof call : 0;
    const bool added = add_to(calls, call, 1 + static_cast<std::int64_t>(itself));
    if (!added && room != nullptr) room->leave_out();
  }
  void add(const RecordedPattern& pattern) noexcept {
    if (group.empty()) return;
    const std::size_t times = pattern.pattern.times.size() * sizeof(double) / sizeof(RecordedCall);
    add_to(patterns, pattern, 2 + static_cast<std::int64_t>(times));
  }

 private:
  template <class Item>
  bool add_to(std::vector<Item>& items, const Item& item, std::int64_t calls_worth) noexcept {
    if (room != nullptr && !room->take(calls_worth)) return false;
    try {
      items.push_back(item);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
};

// Of the process. Guarded by its owner.
class ProcessRecording {
 public:
  // Which communicator of this group comes now.
  std::uint64_t ordinal_of(const std::vector<int>& group) { return seen_[group]++; }
  // One of which nothing was recorded is let go: programs make and free them in loops.
  void take(CommunicatorRecording recording) {
    if (recording.calls.empty() && recording.patterns.empty()) return;
    ended_.push_back(std::move(recording));
  }
  RecordingRoom& room() { return room_; }
  // {"version":1,"mpi":...,"rank":...,"world_size":...,"clock":...,"wall_minus_clock":...,
  //  "began":ns,
  //  "left_out":calls for which there was no room,
  //  "communicators":[{"group":[...],"ordinal":...,"calls":[[number,"gather",root,bytes,ns],...],
  //                    "patterns":[["gather",root,bytes,version,[ns,...]],...],
  //                    "message":[seconds, seconds a byte]}]}
  // A predicted call has three words more: when the rank left it, by whom it was served (native,
  // fixed or predicted), and the version of the arrival pattern. "message" is there where the costs
  // of messages were measured.
  std::string to_json(std::string_view mpi, int rank, int world_size) const;

 private:
  std::map<std::vector<int>, std::uint64_t> seen_;
  std::vector<CommunicatorRecording> ended_;
  RecordingRoom room_;
};

}  // namespace sibyl
