// The steps of circulant_sums.hpp.
#include "planners/circulant_sums.hpp"

namespace sibyl {

void append_circulant_sums(const Circulant& graph, Rank rank, Sums sums, ProgramBuilder& build) {
  const std::uint32_t rounds = graph.rounds();
  if (rounds == 0) return;
  const auto at = [](Buffer buffer, Unit first, Unit count) {
    return ProgramBuilder::slice(buffer, first, count);
  };
  // What is neither given away nor added to in the first round, but given away later.
  if (graph.ranks() % 2 != 0 && !sums.holds_own) {
    const auto middle = static_cast<Unit>(graph.up(rank, graph.ranks() / 2));
    build.copy(at(sums.buffer, middle, 1), at(Buffer::send, middle, 1), 0);
  }
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const Rank kept = graph.distance(rounds - round - 1);
    const Rank given = graph.distance(rounds - round) - kept;
    const bool first_of_all = round == 0 && !sums.holds_own;
    const Rank above = graph.up(rank, kept);
    const Rank below = graph.down(rank, kept);
    for_each_part_of_run(graph, above, given, [&](Unit first, Unit count) {
      build.send(above, at(first_of_all ? Buffer::send : sums.buffer, first, count), round);
    });
    for_each_part_of_run(graph, rank, given, [&](Unit first, Unit count) {
      const Slice sum = at(sums.buffer, first, count);
      if (first_of_all) {
        build.receive(below, sum, round);
        build.combine(sum, at(Buffer::send, first, count), round);
      } else {
        build.receive_combine(below, sum, round);
      }
    });
  }
}

void append_circulant_copies(const Circulant& graph, Rank rank, ProgramBuilder& build) {
  for (std::uint32_t k = 0; k < graph.rounds(); ++k) {
    const std::uint32_t round = graph.rounds() + k;
    const Rank have = graph.distance(k);
    const Rank more = graph.distance(k + 1) - have;
    const Rank below = graph.down(rank, have);
    const Rank above = graph.up(rank, have);
    for_each_part_of_run(graph, rank, more, [&](Unit first, Unit count) {
      build.send(below, ProgramBuilder::slice(Buffer::receive, first, count), round);
    });
    for_each_part_of_run(graph, above, more, [&](Unit first, Unit count) {
      build.receive(above, ProgramBuilder::slice(Buffer::receive, first, count), round);
    });
  }
}

// A run of one block goes past no end; two distances may lead to the same rank, one up, one down.
std::uint32_t circulant_tags(const Circulant& graph, bool both) {
  const auto messages = [&](std::uint32_t k) {
    return graph.distance(k + 1) - graph.distance(k) > 1 ? 2U : 1U;
  };
  std::uint32_t most = 1;
  for (std::uint32_t k = 0; k < graph.rounds(); ++k) {
    most = std::max(most, messages(k));
    for (std::uint32_t other = 0; both && other < graph.rounds(); ++other) {
      if (graph.distance(k) + graph.distance(other) != graph.ranks()) continue;
      most = std::max(most, messages(k) + messages(other));
    }
  }
  return most;
}

void append_ring_sums(const RingSeat& seat, Unit segments, Unit together, Sums sums,
                      ProgramBuilder& build) {
  const Rank seats = seat.seats;
  const auto steps = static_cast<Unit>(seats - 1);
  for (std::uint32_t round = 0; round < steps * segments; ++round) {
    const Unit first = round / (steps * together) * together;
    const Unit count = std::min(together, segments - first);
    const std::uint32_t place = round - first * steps;
    const auto t = static_cast<Rank>(place / count);
    const Unit s = first + place % count;
    const Rank given = (2 * seats + seat.own - 1 - t) % seats;
    const Rank taken = (2 * seats + seat.own - 2 - t) % seats;
    const Buffer from = t == 0 && !sums.holds_own ? Buffer::send : sums.buffer;
    const auto at = [&](Buffer buffer, Rank block) {
      return ProgramBuilder::slice(buffer, static_cast<Unit>(block) * segments + s);
    };
    build.send(seat.next, at(from, given), round);
    if (sums.holds_own) {
      build.receive_combine(seat.before, at(sums.buffer, taken), round);
    } else {
      build.receive(seat.before, at(sums.buffer, taken), round);
      build.combine(at(sums.buffer, taken), at(Buffer::send, taken), round);
    }
  }
}

void append_ring_copies(const RingSeat& seat, Rank blocks, Unit segments, std::uint32_t round,
                        Gate open, ProgramBuilder& build) {
  for (Rank t = 0; t + 1 < seat.seats; ++t) {
    const Rank given = (seat.own - t + seat.seats) % seat.seats;
    const Rank taken = (given - 1 + seat.seats) % seat.seats;
    for (Unit s = 0; s < segments; ++s, ++round) {
      const auto segment = [&](Rank block) {
        return ProgramBuilder::slice(Buffer::receive, static_cast<Unit>(block) * segments + s);
      };
      if (given < blocks) {
        build.send(seat.next, segment(given), round, t == 0 ? Gate::on_arrival : open);
      }
      if (taken < blocks) build.receive(seat.before, segment(taken), round, open);
    }
  }
}

}  // namespace sibyl
