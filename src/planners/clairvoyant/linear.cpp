// Clairvoyant by linear search: the reference.
//
// Idea: greedy. In every round each process of the group, the sink first, takes the smallest
// segment that it holds and that another one who has not sent in this round holds too, from the
// first such sender; so partial sums of a segment come together wherever there is time, and end at
// the sink.
//
// p no power of two: no matter. Commutativity: needs a commutative operator, operands come together
// in the order of arrival.
// Cost of generation: O(rounds * P^2 * N); P N bytes. This is the only generator without bits.
// Source: Improving Clairvoyant, section 4.6, listing 2, with the resolutions of
// docs/explanation/clairvoyant.md where it is silent or contradicts its text.
#include <vector>

#include "planners/clairvoyant/generators.hpp"

namespace sibyl::clairvoyant {
namespace {

enum class State : std::uint8_t {
  sent,      // E: has sent its part of the segment
  held,      // A or P: holds its own part or a partial sum
  received,  // P': received a partial sum in this round, and may not send it before the next
};

}  // namespace

void generate_linear(const ClairvoyantRequest& request, Collector& collector) {
  const std::size_t ranks = request.arrivals.size();
  const std::uint32_t segments = request.segments;
  std::vector<State> states(ranks * segments, State::held);
  const auto state = [&](Rank rank, std::uint32_t segment) -> State& {
    return states[static_cast<std::size_t>(rank) * segments + segment];
  };
  std::vector<bool> has_sent(ranks);  // in this round
  std::vector<Rank> consider;         // the group, the sink first
  std::vector<Rank> search;           // the group in the order in which a sender is looked for
  Membership membership(request);

  while (membership.begin_round()) {
    const Rank sink = membership.sink();
    consider.assign(membership.group().begin(), membership.group().end());
    std::erase(consider, sink);
    consider.insert(consider.begin(), sink);
    search.assign(membership.group().begin(), membership.group().end());
    if (request.root_order == RootOrder::first && membership.root_is_here()) search = consider;
    for (const Rank rank : consider) has_sent[static_cast<std::size_t>(rank)] = false;

    ClairvoyantEvent* const events = collector.room(consider.size());
    std::size_t count = 0;
    for (const Rank receiver : consider) {
      Rank sender = no_rank;
      std::uint32_t segment = 0;
      for (; segment < segments; ++segment) {
        if (receiver != sink && state(receiver, segment) != State::held) continue;
        for (const Rank candidate : search) {
          if (candidate != receiver && state(candidate, segment) == State::held &&
              !has_sent[static_cast<std::size_t>(candidate)]) {
            sender = candidate;
            break;
          }
        }
        if (sender != no_rank) break;
      }
      if (sender == no_rank) continue;
      events[count++] = {membership.round(), sender, receiver, segment};
      has_sent[static_cast<std::size_t>(sender)] = true;
      state(sender, segment) = State::sent;
      state(receiver, segment) = State::received;
    }
    for (std::size_t e = 0; e < count; ++e) {
      state(events[e].receiver, events[e].segment) = State::held;
    }
    bool satisfied = false;
    membership.end_round([&](Rank rank) {
      if (rank == sink) return false;
      for (std::uint32_t s = 0; s < segments; ++s) {
        if (state(rank, s) != State::sent) return false;
      }
      satisfied |= collector.is_satisfied_by(rank);
      return true;
    });
    collector.take(count);
    if (satisfied) return;
  }
}

}  // namespace sibyl::clairvoyant
