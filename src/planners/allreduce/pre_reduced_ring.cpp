// Allreduce around a ring, where some ranks are late: the others have added up before they come.
//
// Idea: the ranks that come in time are a ring of their own and add up their vectors in parts while
// they wait for the late ones. Who is late sends each part of its vector straight to the rank that
// has the sum of that part. Then the sums go around the ring once more, and the rank at which a sum
// is complete sends it to those that were late, too: these have enough to do with their own vectors
// to pass anything on. (Handed on by the rank that gets it last, all of it would reach them only
// when it has gone around.) So what is left to do when the last rank comes is to send its vector
// and to receive the result: half of what a ring that waited for it would take. All that goes by
// pieces: the first piece of every part is at the late ranks while the second goes around.
//
// The sums of those in time are made by some pieces at a time, too, so that where a late rank is
// there after all its vector comes in while the result of the first pieces goes out: a link carries
// (p+q-2)/q of a vector each way then, where 2 (p-1)/q would pass if one waited for the other.
//
// Who counts as late is what ends soonest by a model: with k late ranks and q = p - k others the
// sums of these are there a time of (q-1)/q beta m after the last of them has come, and all is over
// (p-1)/q beta m after that and after the last rank of all. Told wrong, it is a ring that waits for
// the rank that is late indeed, and no more are left out than keeps that near the ring of all
// (docs/results/told-wrong.md).
//
// p no power of two: no matter.
// Commutativity: required; the sum of a part begins at any rank of the ring.
// In place: at any rank.
// Cost after the last arrival with k late ranks: about (p-1)/(p-k) beta m; without any it is the
// ring. Source: J. Proficz, Improving all-reduce collective operations for imbalanced process
// arrival
//   patterns, 2018 (pre-reduced ring); StragglAR (arXiv 2505.23523) for one late rank.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "planners/allreduce/allreduce.hpp"
#include "planners/circulant_sums.hpp"
#include "planners/headers.hpp"
#include "planners/parts.hpp"
#include "sibyl/arrival.hpp"

namespace sibyl::allreduce {
namespace {

// Pieces of a sum that go around together while a late rank is awaited. Told of a late rank that is
// none, 1 MiB on 8 hosts took 166 ms so and 173 with all of them, a ring 153; told that another
// rank is late, 164 with three and with all, 166 with one.
constexpr Unit pieces_together = 3;

// Who is late has something for all others at once, and those in time for the next and for who is
// late: without a limit these meet at their receivers (1 MiB on 8 hosts, one rank late: 123 ms with
// MPICH 4.0, with six at a time 107). No more than four of them go to one rank, so that one that
// comes later than was told takes up no other's place. Three and two take 102 ms, but told that
// another rank is late 264, where these take 171 (docs/results/all-ranks.md).
constexpr PortWindow window{.sends = 6, .sends_to_one = 4, .until_taken = true};

// Among many ranks pieces are short, and to wait until each is taken costs more than that they
// meet: 256 KiB on 48 hosts of 10 Mbit/s with MPICH 4.0, one rank late, take 347 ms so on 16 cores
// and 370 on two, a ring 433 and 462, and with the window above 6 s and 0.56.
constexpr PortWindow window_of_many{};  // no limit
constexpr Rank many = 17;

// The ranks in time, then those that are late, both in rank order.
struct Seats {
  std::vector<Rank> ranks;
  Rank in_time = 0;

  Rank late() const { return static_cast<Rank>(ranks.size()) - in_time; }
  Rank at(Rank seat) const { return ranks[static_cast<std::size_t>(seat)]; }
  RingSeat in_ring(Rank own) const {
    return {in_time, own, at((own + in_time - 1) % in_time), at((own + 1) % in_time)};
  }
};

// What leaving ranks out has to bring at least, in the time of a vector: where it is told wrong it
// costs about as much (docs/results/all-ranks.md).
constexpr double worth_leaving_out = 0.25;

// A ring of fewer takes more than 1.1 times the time of a ring of all p where it is told wrong: if
// one of its q ranks is the last, (p+q-2)/q beta m are left after that, and 2 (p-1)/p otherwise.
// One rank may always be left out.
Rank fewest_in_time(Rank ranks) {
  constexpr double told_wrong = 1.1;
  const double others = ranks - 1;
  const double fewest = (others - 1) / (told_wrong * 2 * others / ranks - 1);
  return std::max(1, std::min(static_cast<Rank>(std::ceil(fewest)), ranks - 1));
}

// How many ranks are in time.
Rank count_in_time(std::span<const double> sorted, double vector_time) {
  const auto ranks = static_cast<Rank>(sorted.size());
  const Rank fewest = fewest_in_time(ranks);
  const double last = sorted.back();
  Rank best = ranks;
  double least = 0;
  for (Rank in_time = ranks; in_time >= fewest; --in_time) {
    const auto q = static_cast<double>(in_time);
    const double others = sorted[static_cast<std::size_t>(in_time - 1)];
    const double added_up = others + (q - 1) / q * vector_time;
    const double margin = in_time == ranks ? 0 : worth_leaving_out * vector_time;
    const double end = std::max(added_up, last) + (ranks - 1) / q * vector_time + margin;
    if (in_time == ranks || end < least) {
      least = end;
      best = in_time;
    }
  }
  return best;
}

Seats seats_of(const PlanRequest& request) {
  Seats seats;
  seats.ranks.resize(static_cast<std::size_t>(request.ranks));
  std::iota(seats.ranks.begin(), seats.ranks.end(), 0);
  seats.in_time = request.ranks;
  if (request.arrivals.empty()) return seats;
  std::vector<double> sorted(request.arrivals.begin(), request.arrivals.end());
  std::ranges::sort(sorted);
  seats.in_time = count_in_time(sorted, request.round_time * request.segments);
  const double end_of_time = sorted[static_cast<std::size_t>(seats.in_time - 1)];
  // Of several that come at this moment the first in rank order are in time.
  const auto before = std::ranges::lower_bound(sorted, end_of_time) - sorted.begin();
  Rank room = seats.in_time - static_cast<Rank>(before);
  std::vector<Rank> late;
  seats.ranks.clear();
  for (Rank rank = 0; rank < request.ranks; ++rank) {
    const double time = request.arrivals[static_cast<std::size_t>(rank)];
    const bool in_time = time < end_of_time || (time == end_of_time && room-- > 0);
    (in_time ? seats.ranks : late).push_back(rank);
  }
  seats.ranks.insert(seats.ranks.end(), late.begin(), late.end());
  return seats;
}

// Pieces of each part: those with which there are about as many segments as asked for. Where parts
// have few, no more, as each of them costs a message: 96 for 48 ranks are 94 of 47, not 141. Where
// they have many, no fewer, as a little longer may be longer than what MPI sends at once: of 1 MiB
// on 8 hosts, one rank late, 63 segments took 99 ms in the place of 64, and 70 take 92.
Unit pieces_of(const PlanRequest& request, Rank in_time) {
  constexpr Unit many_pieces = 8;
  const auto parts = static_cast<Unit>(in_time);
  const Unit nearest = std::max<Unit>(1, (request.segments + parts / 2) / parts);
  return nearest >= many_pieces ? (request.segments + parts - 1) / parts : nearest;
}

// The rounds in which a piece of every part goes from the late ranks to the sums and around the
// ring; in the first of these to the late ranks, too.
std::uint32_t rounds_of_piece(std::uint32_t parts, std::uint32_t late) {
  return late == 0 ? parts - 1 : parts * late + std::max(parts - 1, 1U);
}

class Rounds {
 public:
  Rounds(const Seats& seats, Unit pieces)
      : parts_(static_cast<std::uint32_t>(seats.in_time)),
        late_(static_cast<std::uint32_t>(seats.late())),
        first_((parts_ - 1) * pieces) {}
  // `late`: the late ranks numbered from 0.
  std::uint32_t to_sum(Unit piece, Rank part, Rank late) const {
    return of(piece) + place(part, late);
  }
  std::uint32_t in_ring(Unit piece, Rank step) const {
    return of(piece) + parts_ * late_ + static_cast<std::uint32_t>(step);
  }
  std::uint32_t to_late(Unit piece) const { return in_ring(piece, 0); }

 private:
  std::uint32_t of(Unit piece) const { return first_ + piece * rounds_of_piece(parts_, late_); }
  std::uint32_t place(Rank part, Rank late) const {
    return static_cast<std::uint32_t>(part) * late_ + static_cast<std::uint32_t>(late);
  }
  std::uint32_t parts_;
  std::uint32_t late_;
  std::uint32_t first_;
};

void append_late_rank(const Seats& seats, Rank own, Unit pieces, Buffer operand,
                      ProgramBuilder& build) {
  const Rounds rounds(seats, pieces);
  const Rank number = own - seats.in_time;
  const auto unit = [&](Buffer buffer, Rank part, Unit piece) {
    return ProgramBuilder::slice(buffer, static_cast<Unit>(part) * pieces + piece);
  };
  for (Unit piece = 0; piece < pieces; ++piece) {
    for (Rank part = 0; part < seats.in_time; ++part) {
      build.send(seats.at(part), unit(operand, part, piece), rounds.to_sum(piece, part, number));
    }
    for (Rank part = 0; part < seats.in_time; ++part) {
      build.receive(seats.at(part), unit(Buffer::receive, part, piece), rounds.to_late(piece));
    }
  }
}

// What the late ranks send has a place of its own, so that it is taken whenever it comes.
void append_rank_in_time(const Seats& seats, const RingSeat& seat, Unit pieces,
                         ProgramBuilder& build) {
  const Rounds rounds(seats, pieces);
  const Rank parts = seats.in_time;
  const auto unit = [&](Rank part, Unit piece) {
    return ProgramBuilder::slice(Buffer::receive, static_cast<Unit>(part) * pieces + piece);
  };
  const auto tell_late = [&](Unit piece) {
    for (Rank late = 0; late < seats.late(); ++late) {
      build.send(seats.at(parts + late), unit(seat.own, piece), rounds.to_late(piece));
    }
  };
  for (Unit piece = 0; piece < pieces; ++piece) {
    for (Rank late = 0; late < seats.late(); ++late) {
      const Unit copy = static_cast<Unit>(late * parts) * pieces;
      const Slice operand = ProgramBuilder::slice(
          Buffer::scratch, copy + static_cast<Unit>(seat.own) * pieces + piece);
      const std::uint32_t round = rounds.to_sum(piece, seat.own, late);
      build.receive(seats.at(parts + late), operand, round);
      build.combine(unit(seat.own, piece), operand, round);
    }
    for (Rank step = 0; step + 1 < parts; ++step) {
      const Rank given = (seat.own - step + parts) % parts;
      const Rank taken = (given - 1 + parts) % parts;
      build.send(seat.next, unit(given, piece), rounds.in_ring(piece, step));
      build.receive(seat.before, unit(taken, piece), rounds.in_ring(piece, step));
      if (step == 0) tell_late(piece);
    }
    if (parts == 1) tell_late(piece);
  }
}

}  // namespace

std::string check_pre_reduced_ring(const PlanRequest& request) {
  if (std::string wrong = check_ring(request); !wrong.empty()) return wrong;
  if (std::string wrong = check_segments_of_blocks(request); !wrong.empty()) return wrong;
  return request.arrivals.empty() ? std::string() : check_times(request.arrivals, request.ranks);
}

PlanHeader describe_pre_reduced_ring(const PlanRequest& request) {
  const Rank in_time = seats_of(request).in_time;
  const Unit pieces = pieces_of(request, in_time);
  const auto parts = static_cast<std::uint32_t>(in_time);
  const auto late = static_cast<std::uint32_t>(request.ranks - in_time);
  PlanHeader header = plain_header(Collective::allreduce, "pre-reduced-ring", request,
                                   (parts - 1 + rounds_of_piece(parts, late)) * pieces);
  header.segments = pieces * parts;
  header.staging = 8;
  header.tag_span = std::max<std::uint32_t>(1, 2 * parts * pieces);
  header.one_ported = late == 0;
  if (late != 0) header.window = request.ranks < many ? window : window_of_many;
  return header;
}

void plan_pre_reduced_ring(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  ProgramBuilder build(program);
  const Seats seats = seats_of(request);
  const Unit pieces = pieces_of(request, seats.in_time);
  const auto own = static_cast<Rank>(std::ranges::find(seats.ranks, rank) - seats.ranks.begin());
  if (own >= seats.in_time) {
    append_late_rank(seats, own, pieces, request.in_place ? Buffer::receive : Buffer::send, build);
    return;
  }
  const RingSeat seat = seats.in_ring(own);
  const Unit together = seats.late() == 0 ? pieces : pieces_together;
  append_ring_sums(seat, pieces, together, {Buffer::receive, request.in_place}, build);
  if (seats.in_time == 1 && !request.in_place) {
    build.copy(ProgramBuilder::slice(Buffer::receive, 0, pieces),
               ProgramBuilder::slice(Buffer::send, 0, pieces), 0);
  }
  if (seats.late() == 0) {
    append_ring_copies(seat, seat.seats, pieces,
                       static_cast<std::uint32_t>(seat.seats - 1) * pieces, Gate::on_arrival,
                       build);
  } else {
    program.scratch_units = static_cast<Unit>(seats.late() * seat.seats) * pieces;
    append_rank_in_time(seats, seat, pieces, build);
  }
}

}  // namespace sibyl::allreduce
