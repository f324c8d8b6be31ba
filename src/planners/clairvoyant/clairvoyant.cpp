// The public side of the generators: names, checks, and the choice between all events and those of
// one rank.
#include "sibyl/clairvoyant.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "planners/clairvoyant/generators.hpp"

namespace sibyl {
namespace {

using Generator = ClairvoyantGenerator;

constexpr std::array generators{Generator::linear, Generator::pairing_heap, Generator::segment_tree,
                                Generator::fast};
constexpr double most_rounds = 2147483648.0;  // until the last arrival; events hold 32 bits
constexpr std::uint32_t most_clairvoyant_segments = 1U << 28;

std::string gibibytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", bytes / 1073741824.0);
  return text;
}

double memory_of_machine() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<double>(pages) * static_cast<double>(page) : 1e300;
}

void generate(Generator generator, const ClairvoyantRequest& request,
              clairvoyant::Collector& collector) {
  switch (generator) {
    case Generator::linear:
      return clairvoyant::generate_linear(request, collector);
    case Generator::pairing_heap:
      return clairvoyant::generate_pairing_heap(request, collector);
    case Generator::segment_tree:
      return clairvoyant::generate_segment_tree(request, collector);
    case Generator::fast:
      return clairvoyant::generate_fast(request, collector);
  }
}

// Whether there are events at all. Checks the request, and makes room for the events of all ranks.
bool begin(Generator generator, const ClairvoyantRequest& request, Rank only,
           ClairvoyantSchedule& schedule) {
  schedule.problem = check_clairvoyant(generator, request, only == no_rank);
  if (!schedule.ok() || request.arrivals.size() < 2 || request.segments == 0) return false;
  if (only == no_rank) {
    // Segments that travel through the root twice are a few in a hundred.
    const std::size_t least = (request.arrivals.size() - 1) * request.segments;
    schedule.events.room(least + least / 16 + request.arrivals.size());
  }
  return true;
}

ClairvoyantSchedule make(Generator generator, const ClairvoyantRequest& request, Rank only) {
  ClairvoyantSchedule schedule;
  if (!begin(generator, request, only, schedule)) return schedule;
  clairvoyant::Collector collector(schedule.events, only);
  generate(generator, request, collector);
  return schedule;
}

}  // namespace

void ClairvoyantEvents::Free::operator()(ClairvoyantEvent* events) const { std::free(events); }

void ClairvoyantEvents::grow(std::size_t count) {
  const std::size_t capacity = std::max(size_ + count, capacity_ + capacity_ / 2);
  void* const moved = std::realloc(data_.get(), capacity * sizeof(ClairvoyantEvent));
  if (moved == nullptr) throw std::bad_alloc();
  (void)data_.release();
  data_.reset(static_cast<ClairvoyantEvent*>(moved));
  capacity_ = capacity;
}

void clairvoyant::Collector::take(std::size_t count) {
  if (only_ == no_rank) return events_.extend(count);
  ClairvoyantEvent* const round = events_.room(0);
  std::size_t kept = 0;
  for (std::size_t e = 0; e < count; ++e) {
    if (round[e].sender == only_ || round[e].receiver == only_) round[kept++] = round[e];
  }
  events_.extend(kept);
}

std::span<const Generator> clairvoyant_generators() { return generators; }

std::string_view name_of(Generator generator) {
  switch (generator) {
    case Generator::linear:
      return "linear";
    case Generator::pairing_heap:
      return "pairing-heap";
    case Generator::segment_tree:
      return "segment-tree";
    case Generator::fast:
      return "fast";
  }
  return "";
}

bool generator_from_name(std::string_view name, Generator& generator) {
  for (const Generator candidate : generators) {
    if (name_of(candidate) != name) continue;
    generator = candidate;
    return true;
  }
  return false;
}

std::string_view name_of(RootOrder order) {
  return order == RootOrder::first ? "first" : "availability";
}

bool root_order_from_name(std::string_view name, RootOrder& order) {
  for (const RootOrder candidate : {RootOrder::first, RootOrder::availability}) {
    if (name_of(candidate) != name) continue;
    order = candidate;
    return true;
  }
  return false;
}

double clairvoyant_memory(Generator generator, double ranks, double segments) {
  const double per_rank = ranks * 128;
  const double bits = ranks * 64 * std::ceil(segments / 64);
  switch (generator) {
    case Generator::linear:
      return per_rank + ranks * segments;
    case Generator::pairing_heap:
      return per_rank + ranks * segments * 56;
    case Generator::segment_tree:
      return per_rank + bits * 4 / 8;
    case Generator::fast:
      return per_rank + bits / 8 + segments * 8 * (8 + std::ceil(ranks / 64)) + ranks * 64;
  }
  return 0;
}

std::string check_clairvoyant(Generator generator, const ClairvoyantRequest& request, bool whole) {
  const auto ranks =
      static_cast<Rank>(std::min<std::size_t>(request.arrivals.size(), std::size_t{1} << 30));
  if (std::string wrong = check_times(request.arrivals, ranks); !wrong.empty()) return wrong;
  if (request.root < 0 || request.root >= ranks) {
    return "the root is " + std::to_string(request.root) + "; choose one of the ranks 0 to " +
           std::to_string(ranks - 1);
  }
  if (request.segments > most_clairvoyant_segments) {
    return "there are " + std::to_string(request.segments) + " segments; ask for at most " +
           std::to_string(most_clairvoyant_segments);
  }
  if (std::isnan(request.round_time) || std::isinf(request.round_time)) {
    return "the round time is not a finite number; give seconds, more than 0";
  }
  if (request.round_time <= 0) return "the round time is not positive; give seconds, more than 0";
  if (!std::isnormal(request.round_time)) {
    return "the round time is denormal, too small to divide by; give at least 2.3e-308 seconds";
  }
  const double latest = *std::max_element(request.arrivals.begin(), request.arrivals.end());
  if (latest / request.round_time >= most_rounds) {
    return "the last arrival is more than 2^31 rounds away; give a longer round time";
  }
  const double cells = static_cast<double>(ranks) * request.segments;
  double bytes = clairvoyant_memory(generator, ranks, request.segments);
  if (whole) bytes += cells * 1.1 * sizeof(ClairvoyantEvent);
  if (bytes > memory_of_machine()) {
    return std::to_string(ranks) + " ranks and " + std::to_string(request.segments) +
           " segments need " + gibibytes(bytes) + "; this machine has " +
           gibibytes(memory_of_machine()) + ": ask for fewer segments" +
           (whole ? ", or for one rank only" : "");
  }
  return {};
}

ClairvoyantSchedule make_clairvoyant(Generator generator, const ClairvoyantRequest& request) {
  return make(generator, request, no_rank);
}

ClairvoyantSchedule make_clairvoyant(Generator generator, const ClairvoyantRequest& request,
                                     Rank rank) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= request.arrivals.size()) {
    ClairvoyantSchedule schedule;
    schedule.problem = "rank " + std::to_string(rank) + " is not among the ranks of the pattern";
    return schedule;
  }
  return make(generator, request, rank);
}

ClairvoyantRounds::ClairvoyantRounds(const ClairvoyantRequest& request)
    : arrivals_(request.arrivals.begin(), request.arrivals.end()), request_(request) {
  request_.arrivals = arrivals_;
  if (begin(Generator::fast, request_, no_rank, schedule_)) {
    rounds_ = std::make_unique<clairvoyant::Rounds>(request_);
  }
}

ClairvoyantRounds::~ClairvoyantRounds() = default;

bool ClairvoyantRounds::next() {
  if (rounds_ == nullptr) return true;
  clairvoyant::Collector collector(schedule_.events, no_rank);
  if (!rounds_->next(collector)) rounds_.reset();
  return complete();
}

}  // namespace sibyl
