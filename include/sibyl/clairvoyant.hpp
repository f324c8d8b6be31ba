/// @file
/// Clairvoyant schedules: who sends which segment to whom in which round of a reduce whose arrival
/// pattern is known.
///
/// Four generators give the same schedule event by event; they differ in time and memory. Rounds
/// last `round_time`; in each, every process that has arrived sends at most one segment and
/// receives at most one. All ranks that generate from the same request get the same schedule, so
/// that nobody sends it around.
///
/// Time is exact. Arrivals and round time are taken at the exact value of their doubles: an arrival
/// a is split into a = k d + f, 0 <= f < d, with the exact remainder f (std::fmod), and
/// availability is compared as (k + rounds since joining, f). Nothing is accumulated or rounded.
///
/// Errors: check_clairvoyant says in one line what is wrong with a request and how to mend it; the
/// generators return it as `problem` and never throw anything but std::bad_alloc where memory ends
/// in spite of the check.
///
/// Source: J. Proficz, K. M. Ocetkiewicz, Improving Clairvoyant: reduction algorithm resilient to
/// imbalanced process arrival patterns, 2020; P. Marendic et al., A novel MPI reduction algorithm
/// resilient to imbalances in process arrival times, 2016. docs/explanation/clairvoyant.md says
/// where the schedule departs from the printed listings.
///
/// Thread safety: pure functions; a ClairvoyantRounds belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sibyl/arrival.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

/// @defgroup clairvoyant Clairvoyant schedules
/// @{

namespace clairvoyant {
class Rounds;
}

enum class ClairvoyantGenerator : std::uint8_t {
  linear,        ///< listing 2: the reference, read it first
  pairing_heap,  ///< one pairing heap of free senders per segment (Boost.Heap)
  segment_tree,  ///< listing 8, repaired: a segment tree over bit columns
  fast,          ///< two incremental bit matrices
};
std::span<const ClairvoyantGenerator> clairvoyant_generators();
std::string_view name_of(ClairvoyantGenerator generator);  ///< with '-' for '_'
bool generator_from_name(std::string_view name, ClairvoyantGenerator& generator);

/// Where the root stands in the order in which a sender is looked for.
enum class RootOrder : std::uint8_t {
  first,         ///< before all others once it has arrived (listing 2)
  availability,  ///< at the place of its arrival (listing 8)
};
std::string_view name_of(RootOrder order);
bool root_order_from_name(std::string_view name, RootOrder& order);

struct ClairvoyantRequest {
  std::span<const double> arrivals;  ///< of rank 0, 1, ...: seconds, finite, not negative
  std::uint32_t segments = 1;
  double round_time = 1;  ///< seconds; positive, normal, finite
  Rank root = 0;
  RootOrder root_order = RootOrder::first;
};

/// The schedule of one message.
struct ClairvoyantEvent {
  std::uint32_t round;  ///< from 0; rounds in which nobody could send count
  Rank sender;
  Rank receiver;
  std::uint32_t segment;
  friend bool operator==(const ClairvoyantEvent&, const ClairvoyantEvent&) = default;
};
static_assert(sizeof(ClairvoyantEvent) == 16 && std::is_trivially_copyable_v<ClairvoyantEvent>);

/// Events in storage that is never initialised, only written. Movable, not copyable.
class ClairvoyantEvents {
 public:
  std::span<const ClairvoyantEvent> view() const { return {data_.get(), size_}; }
  std::size_t size() const { return size_; }
  const ClairvoyantEvent* data() const { return data_.get(); }
  /// Room for `count` more events at the end; extend() makes those that were written count.
  ClairvoyantEvent* room(std::size_t count) {
    if (capacity_ - size_ < count) grow(count);
    return data_.get() + size_;
  }
  void extend(std::size_t count) { size_ += count; }

 private:
  struct Free {
    void operator()(ClairvoyantEvent* events) const;
  };
  void grow(std::size_t count);
  std::unique_ptr<ClairvoyantEvent[], Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

struct ClairvoyantSchedule {
  ClairvoyantEvents events;  ///< by round, then in the order in which receivers were considered
  std::string problem;       ///< empty, or why there is no schedule
  bool ok() const { return problem.empty(); }
};

/// Empty when the request can be served. `whole`: all events are kept, not those of one rank.
std::string check_clairvoyant(ClairvoyantGenerator generator, const ClairvoyantRequest& request,
                              bool whole = true);

/// Bytes that a generator works with, events not counted.
double clairvoyant_memory(ClairvoyantGenerator generator, double ranks, double segments);

ClairvoyantSchedule make_clairvoyant(ClairvoyantGenerator generator,
                                     const ClairvoyantRequest& request);

/// Only the events that `rank` takes part in. Nothing else is kept, and generation ends when `rank`
/// has sent its last segment.
ClairvoyantSchedule make_clairvoyant(ClairvoyantGenerator generator,
                                     const ClairvoyantRequest& request, Rank rank);

/// The schedule that make_clairvoyant makes with `fast`, a round at a time: for those who have time
/// now and then, as while messages are under way.
class ClairvoyantRounds {
 public:
  /// Keeps a copy of the arrivals. A request that cannot be served is complete and has a problem.
  explicit ClairvoyantRounds(const ClairvoyantRequest& request);
  ~ClairvoyantRounds();
  ClairvoyantRounds(const ClairvoyantRounds&) = delete;
  ClairvoyantRounds& operator=(const ClairvoyantRounds&) = delete;

  bool complete() const { return rounds_ == nullptr; }
  /// Makes another round, unless the schedule is complete; returns complete(). Throws
  /// std::bad_alloc where memory ends; the schedule can then only be made anew.
  bool next();
  /// What has been made so far.
  const ClairvoyantSchedule& schedule() const { return schedule_; }

 private:
  std::vector<double> arrivals_;
  ClairvoyantRequest request_;
  ClairvoyantSchedule schedule_;
  std::unique_ptr<clairvoyant::Rounds> rounds_;
};

/// @}

}  // namespace sibyl
