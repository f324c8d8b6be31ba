// Data: what a rank adds up and what it is given lies in `receive`; its own part of a segment is
// sent from where the caller has it until something has been added to it. The first part that comes
// is received where the sum belongs, and the caller's own is added to it there, so that nothing is
// copied.
#include "planners/exchange_programs.hpp"

#include <algorithm>
#include <vector>

#include "planners/clairvoyant/exchange.hpp"
#include "planners/headers.hpp"
#include "planners/most_messages.hpp"

namespace sibyl {
namespace {

constexpr std::uint32_t exchange_staging = 8;

// Two sends in the order of the schedule. Others that are ready earlier would keep receivers from
// what is due: simulated, 8 ranks with one late and 256 segments then take 308 to 355 rounds, in
// order 270.
constexpr PortWindow window{.sends = 2, .until_taken = true, .in_order = true};

ClairvoyantEvents events_of(Collective collective, const PlanRequest& request) {
  std::vector<double> flat;
  if (request.arrivals.empty()) flat.assign(static_cast<std::size_t>(request.ranks), 0.0);
  ExchangeRequest exchange;
  exchange.arrivals = request.arrivals.empty() ? std::span<const double>(flat) : request.arrivals;
  exchange.segments = request.segments;
  exchange.round_time = request.round_time;
  if (collective == Collective::bcast) exchange.source = request.root;
  return make_exchange(exchange);
}

PlanHeader header_of(Collective collective, const PlanRequest& request,
                     std::span<const ClairvoyantEvent> events) {
  PlanHeader header = plain_header(collective, "clairvoyant", request,
                                   events.empty() ? 0 : events.back().round + 1);
  header.segments = request.segments;
  header.window = window;
  if (combines(collective)) header.staging = exchange_staging;
  header.tag_span = most_messages_of_a_pair(events, request.ranks);
  return header;
}

// Writes one rank's program, fed with its events in the order of the schedule.
class ExchangeProgram {
 public:
  ExchangeProgram(Collective collective, const PlanRequest& request, Rank rank, Program& program)
      : build_(program), place_(request.segments, Place::own) {
    program.clear();
    if (collective == Collective::allreduce) {
      program.in_place = request.in_place;
      if (program.in_place) std::ranges::fill(place_, Place::sum);
    } else if (rank != request.root) {
      std::ranges::fill(place_, Place::gone);
    }
    ends_with_result_ = collective == Collective::allreduce && !program.in_place;
  }

  void send(const ClairvoyantEvent& event) {
    Place& place = place_[event.segment];
    build_.send(event.receiver, data(place, event.segment), event.round);
    // A result that is passed on stays; so does the sender's vector in a broadcast.
    if (place == Place::own) place = Place::sent_own;
    if (place == Place::sum) place = Place::sent_sum;
  }

  void receive(const ClairvoyantEvent& event) {
    Place& place = place_[event.segment];
    const Slice sum = data(Place::sum, event.segment);
    if (place == Place::sum) {
      build_.receive_combine(event.sender, sum, event.round);
    } else {
      build_.receive(event.sender, sum, event.round);
      if (place == Place::own) build_.combine(sum, data(Place::own, event.segment), event.round);
    }
    place = place == Place::own || place == Place::sum ? Place::sum : Place::result;
  }

  // Of a single rank.
  void finish() {
    if (!ends_with_result_ ||
        std::ranges::any_of(place_, [](Place place) { return place != Place::own; })) {
      return;
    }
    const auto all = static_cast<Unit>(place_.size());
    build_.copy(ProgramBuilder::slice(Buffer::receive, 0, all),
                ProgramBuilder::slice(Buffer::send, 0, all), 0);
  }

 private:
  // What a rank has of a segment, and whether that has been sent: an own part or sum that is sent
  // is gone, unless it is the result, which nobody but its owner sends and holds.
  enum class Place : std::uint8_t { own, sum, sent_own, sent_sum, gone, result };

  static Slice data(Place place, std::uint32_t segment) {
    const bool own = place == Place::own || place == Place::sent_own;
    return ProgramBuilder::slice(own ? Buffer::send : Buffer::receive, segment);
  }

  ProgramBuilder build_;
  std::vector<Place> place_;
  bool ends_with_result_ = false;
};

}  // namespace

std::string check_exchange(Collective collective, const PlanRequest& request) {
  if (request.segments < 1) return "there are 0 segments; cut the vector into at least 1";
  const auto ranks = static_cast<std::uint64_t>(request.ranks);
  if (ranks * request.segments > (1U << 26) || ranks > 4096) {
    return std::to_string(request.ranks) + " ranks with " + std::to_string(request.segments) +
           " segments are more than a " + std::string(name_of(collective)) +
           " is scheduled for (4096 ranks, 2^26 in all); ask for less";
  }
  if (request.arrivals.empty()) return {};
  if (std::string wrong = check_times(request.arrivals, request.ranks); !wrong.empty()) {
    return wrong;
  }
  return check_clairvoyant(ClairvoyantGenerator::fast,
                           {request.arrivals, request.segments, request.round_time});
}

PlanHeader plan_all_exchange(Collective collective, const PlanRequest& request,
                             std::span<Program> programs) {
  const ClairvoyantEvents events = events_of(collective, request);
  std::vector<ExchangeProgram> writers;
  writers.reserve(programs.size());
  for (std::size_t r = 0; r < programs.size(); ++r) {
    writers.emplace_back(collective, request, static_cast<Rank>(r), programs[r]);
  }
  for (const ClairvoyantEvent& event : events.view()) {
    writers[static_cast<std::size_t>(event.sender)].send(event);
    writers[static_cast<std::size_t>(event.receiver)].receive(event);
  }
  for (ExchangeProgram& writer : writers) writer.finish();
  return header_of(collective, request, events.view());
}

PlanHeader plan_one_exchange(Collective collective, const PlanRequest& request, Rank rank,
                             Program& program) {
  const ClairvoyantEvents events = events_of(collective, request);
  ExchangeProgram writer(collective, request, rank, program);
  for (const ClairvoyantEvent& event : events.view()) {
    if (event.sender == rank) writer.send(event);
    if (event.receiver == rank) writer.receive(event);
  }
  writer.finish();
  return header_of(collective, request, events.view());
}

PlanHeader describe_exchange(Collective collective, const PlanRequest& request) {
  return header_of(collective, request, events_of(collective, request).view());
}

}  // namespace sibyl
