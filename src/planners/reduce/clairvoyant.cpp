// Reduce in segments after a Clairvoyant schedule: partial sums come together between the ranks
// that are there, so that little is left to do when the last one arrives.
//
// Idea: all ranks generate the same schedule from the same arrival pattern; each sends and receives
// what its events say, round by round. A segment that comes to a rank which holds it is combined,
// incoming operand on the left; one that comes back to a rank which had sent it (only the sink of
// its round accepts that) overwrites.
//
// p no power of two: no matter. Commutativity: required; operands come together in the order of
// arrival. In place: at the root.
// Cost after the last arrival: about N + log2 p rounds of alpha + beta m/N for a vector of m in N
// segments; (p-1) N messages and a few in a hundred more.
// Source: J. Proficz, K. M. Ocetkiewicz, Improving Clairvoyant, 2020, listing 2;
// src/planners/clairvoyant/ generates the schedule.
//
// Data: `send` is never written. A rank adds up in `scratch`, the root in `receive`; until a
// segment is received it is sent from where the caller has it.
#include "planners/reduce/clairvoyant.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include "planners/most_messages.hpp"
#include "sibyl/clairvoyant.hpp"

namespace sibyl::reduce {
namespace {

// Receives that may be under way or not yet combined at a rank. Enough to pass over a late peer,
// and a small part of the vector.
constexpr std::uint32_t staging = 8;

// Every link is busy in every round, so that ranks which run ahead fill the links of others. With
// three sends under way the links stay busy while receivers answer: 256 KiB in 32 segments on 8
// hosts then take 1.4 times as long as one link carries the vector, and 1.95 times without limit
// (measured in November 2026).
constexpr PortWindow window{.sends = 3, .until_taken = true};

// The request in the generators' terms; without a pattern all ranks arrive at once.
struct Asked {
  explicit Asked(const PlanRequest& request) {
    if (request.arrivals.empty()) flat.assign(static_cast<std::size_t>(request.ranks), 0.0);
    clairvoyant.arrivals =
        request.arrivals.empty() ? std::span<const double>(flat) : request.arrivals;
    clairvoyant.segments = request.segments;
    clairvoyant.round_time = request.round_time;
    clairvoyant.root = request.root;
    clairvoyant.root_order = request.root_order;
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
  std::vector<double> flat;
  ClairvoyantRequest clairvoyant;
};

// Writes one rank's program, fed with its events in the order of the schedule.
class RankProgram {
 public:
  RankProgram(const PlanRequest& request, Rank rank, Program& program)
      : program_(program),
        build_(program),
        at_root_(rank == request.root),
        place_(request.segments, untouched) {
    program.clear();
    program.in_place = at_root_ && request.in_place;
    if (program.in_place) std::fill(place_.begin(), place_.end(), own_in_receive);
  }

  void send(const ClairvoyantEvent& event) {
    build_.send(event.receiver, data(event.segment), event.round);
    sent(event.segment);
  }

  void receive(const ClairvoyantEvent& event) {
    Unit& place = place_[event.segment];
    const bool had_sent = (place & gone) != 0;
    place &= ~gone;
    if (place == untouched) {
      const Slice from = ProgramBuilder::slice(Buffer::send, event.segment);
      place = at_root_ ? own_in_receive : event.segment;
      if (!at_root_) program_.scratch_units = static_cast<Unit>(place_.size());
      if (!had_sent) build_.copy(data(event.segment), from, event.round);
    }
    if (had_sent) {
      build_.receive(event.sender, data(event.segment), event.round);
    } else {
      build_.receive_combine(event.sender, data(event.segment), event.round);
    }
  }

  // The root's own data where nobody sent anything: a single rank.
  void finish(std::uint32_t round) {
    if (!at_root_) return;
    for (Unit s = 0; s < place_.size(); ++s) {
      Unit end = s;
      while (end < place_.size() && place_[end] == untouched) ++end;
      if (end == s) continue;
      build_.copy(ProgramBuilder::slice(Buffer::receive, s, end - s),
                  ProgramBuilder::slice(Buffer::send, s, end - s), round);
      s = end;
    }
  }

 private:
  // Where a segment lies: a slot of scratch, or one of these; `gone` is added while it is sent.
  static constexpr Unit gone = Unit{1} << 31;
  static constexpr Unit untouched = gone - 1;
  static constexpr Unit own_in_receive = gone - 2;

  void sent(Unit segment) { place_[segment] |= gone; }
  Slice data(Unit segment) const {
    const Unit place = place_[segment] & ~gone;
    if (place == untouched) return ProgramBuilder::slice(Buffer::send, segment);
    if (place == own_in_receive) return ProgramBuilder::slice(Buffer::receive, segment);
    return ProgramBuilder::slice(Buffer::scratch, place);
  }

  Program& program_;
  ProgramBuilder build_;
  bool at_root_;
  std::vector<Unit> place_;  // of each segment
};

// What a checked request still may lack is room: throws std::bad_alloc.
ClairvoyantSchedule complete(ClairvoyantSchedule schedule) {
  if (!schedule.ok()) throw std::bad_alloc();
  return schedule;
}

PlanHeader header_of(const PlanRequest& request, std::span<const ClairvoyantEvent> events) {
  PlanHeader header;
  header.collective = Collective::reduce;
  header.algorithm = "clairvoyant";
  header.ranks = request.ranks;
  header.root = request.root;
  header.partition = Partition::vector;
  header.segments = request.segments;
  header.staging = staging;
  header.window = window;
  header.window.in_order = request.in_order;
  header.tag_span = most_messages_of_a_pair(events, request.ranks);
  header.rounds = events.empty() ? 0 : events.back().round + 1;
  header.one_ported = true;
  return header;
}

std::uint32_t last_round(std::span<const ClairvoyantEvent> events) {
  return events.empty() ? 0 : events.back().round;
}

}  // namespace

std::string check_clairvoyant(const PlanRequest& request) {
  if (request.segments < 1) return "there are 0 segments; cut the vector into at least 1";
  if (static_cast<std::uint64_t>(request.ranks) * request.segments > (1U << 30)) {
    return std::to_string(request.ranks) + " ranks with " + std::to_string(request.segments) +
           " segments are more than a plan can number (2^30 in all); ask for fewer segments";
  }
  // The right number of arrivals, and what the generators ask for.
  if (!request.arrivals.empty()) {
    if (std::string wrong = check_times(request.arrivals, request.ranks); !wrong.empty()) {
      return wrong;
    }
  }
  return check_clairvoyant(request.generator, Asked(request).clairvoyant);
}

PlanHeader describe_clairvoyant(const PlanRequest& request) {
  const Asked asked(request);
  const ClairvoyantSchedule schedule =
      complete(make_clairvoyant(request.generator, asked.clairvoyant));
  return header_of(request, schedule.events.view());
}

void plan_clairvoyant(const PlanRequest& request, Rank rank, Program& program) {
  const Asked asked(request);
  const ClairvoyantSchedule schedule =
      complete(make_clairvoyant(request.generator, asked.clairvoyant, rank));
  RankProgram writer(request, rank, program);
  for (const ClairvoyantEvent& event : schedule.events.view()) {
    event.sender == rank ? writer.send(event) : writer.receive(event);
  }
  writer.finish(last_round(schedule.events.view()));
}

PlanHeader plan_one_clairvoyant(const PlanRequest& request, Rank rank, Program& program) {
  ClairvoyantSchedule made;
  if (request.schedule == nullptr) {
    made = complete(make_clairvoyant(request.generator, Asked(request).clairvoyant));
  }
  const ClairvoyantSchedule& schedule = request.schedule == nullptr ? made : *request.schedule;
  const std::span<const ClairvoyantEvent> events = schedule.events.view();
  RankProgram writer(request, rank, program);
  for (const ClairvoyantEvent& event : events) {
    if (event.sender == rank) writer.send(event);
    if (event.receiver == rank) writer.receive(event);
  }
  writer.finish(last_round(events));
  return header_of(request, events);
}

std::unique_ptr<ClairvoyantRounds> rounds_of(const PlanRequest& request) {
  return std::make_unique<ClairvoyantRounds>(Asked(request).clairvoyant);
}

PlanHeader plan_all_clairvoyant(const PlanRequest& request, std::span<Program> programs) {
  const Asked asked(request);
  const ClairvoyantSchedule schedule =
      complete(make_clairvoyant(request.generator, asked.clairvoyant));
  const std::span<const ClairvoyantEvent> events = schedule.events.view();
  std::vector<RankProgram> writers;
  writers.reserve(programs.size());
  for (std::size_t r = 0; r < programs.size(); ++r) {
    writers.emplace_back(request, static_cast<Rank>(r), programs[r]);
  }
  for (const ClairvoyantEvent& event : events) {
    writers[static_cast<std::size_t>(event.sender)].send(event);
    writers[static_cast<std::size_t>(event.receiver)].receive(event);
  }
  for (RankProgram& writer : writers) writer.finish(last_round(events));
  return header_of(request, events);
}

}  // namespace sibyl::reduce
