// The programs of the two phases by arithmetic on the digits of a member's number; see groups.hpp.
//
// Data: the sum is in `send` until something is added to it; from then on in one of two places,
// between which it changes when something comes from above: two copies of the vector in scratch, at
// the root `receive` and one copy. What leaves a rank before that goes from where it lies. At the
// end the root copies its own part to `receive`, where it lies elsewhere.
#include "planners/groups.hpp"

#include <algorithm>
#include <bit>

#include "planners/headers.hpp"

namespace sibyl {
namespace {

std::uint32_t members_of(const Groups& groups) {
  std::uint32_t members = 1;
  for (const std::uint32_t size : groups.sizes) members *= size;
  return members;
}

// Of a pair of folded ranks the even one takes part, unless the odd one is the root.
Rank giver_of(Rank pair, Rank root) { return root == 2 * pair + 1 ? 2 * pair : 2 * pair + 1; }

Rank rank_of(std::uint32_t member, const Groups& groups, Rank root) {
  const auto number = static_cast<Rank>(member);
  if (number >= groups.folded) return number + groups.folded;
  return giver_of(number, root) == 2 * number ? 2 * number + 1 : 2 * number;
}

std::uint32_t member_of(Rank rank, const Groups& groups) {
  return static_cast<std::uint32_t>(rank < 2 * groups.folded ? rank / 2 : rank - groups.folded);
}

// One rank's program as it is written, and where its sum lies meanwhile.
class Writer {
 public:
  Writer(Collective collective, const PlanRequest& request, const Groups& groups, Rank rank,
         Program& program)
      : everywhere_(collective == Collective::allreduce),
        request_(request),
        groups_(groups),
        rank_(rank),
        member_(member_of(rank, groups)),
        root_(member_of(request.root, groups)),
        parts_(members_of(groups)),
        held_{0, parts_},
        program_(program),
        build_(program) {
    program.clear();
    program.in_place = has_result() && request.in_place;
    if (has_result()) {
      places_[0] = {Buffer::receive, 0};
      places_[1] = {Buffer::scratch, 0};
      placed_ = program.in_place;
    }
  }

  // True when this rank has given its vector up and is done, but for the result.
  bool fold() {
    if (groups_.folded == 0) return false;
    const std::uint32_t round = round_++;
    if (rank_ >= 2 * groups_.folded) return false;
    const Rank giver = giver_of(rank_ / 2, request_.root);
    if (giver == rank_) {
      build_.send(rank_ ^ 1, sum(held_), round);
      return true;
    }
    add_up(held_, 1, [&](std::uint32_t) { return Incoming{giver, giver > rank_, round}; });
    return false;
  }

  void scatter() {
    std::uint32_t stride = 1;
    for (const std::uint32_t size : groups_.sizes) {
      const std::uint32_t digit = member_ / stride % size;
      const Range all = held_;
      const auto share = [&](std::uint32_t of) {
        return Range{all.first + all.count / size * of, all.count / size};
      };
      const auto peer = [&](std::uint32_t of) { return rank_at(digit, of, stride); };
      held_ = share(digit);
      // In round t to the member t above, from the one t below, counted around.
      const std::uint32_t first_round = round_;
      const Place from = places_[at_];
      const bool from_place = placed_;
      add_up(
          held_, size - 1,
          [&](std::uint32_t t) {
            const std::uint32_t other = (digit + size - 1 - t) % size;
            return Incoming{peer(other), other > digit, first_round + t};
          },
          [&](std::uint32_t t) {
            const std::uint32_t other = (digit + 1 + t) % size;
            const Range given = share(other);
            build_.send(peer(other), from_place ? slice(from, given) : own(given), first_round + t);
          });
      round_ += size - 1;
      stride *= size;
    }
  }

  void gather() {
    if (has_result() && (!placed_ || places_[at_].buffer != Buffer::receive)) {
      build_.copy(slice({Buffer::receive, 0}, held_), sum(held_), round_);
      at_ = 0;
      placed_ = true;
    }
    std::uint32_t stride = parts_;
    for (std::size_t phase = groups_.sizes.size(); phase-- > 0;) {
      const std::uint32_t size = groups_.sizes[phase];
      stride /= size;
      const std::uint32_t digit = member_ / stride % size;
      if (everywhere_) {
        exchange(size, digit, stride);
        continue;
      }
      const std::uint32_t collector = root_ / stride % size;
      if (digit != collector) {
        const std::uint32_t turn = (digit + size - collector) % size - 1;
        build_.send(rank_at(digit, collector, stride), sum(held_), round_ + turn);
        return;
      }
      const Range all{held_.first - held_.count * digit, held_.count * size};
      for (std::uint32_t turn = 0; turn + 1 < size; ++turn) {
        const std::uint32_t other = (digit + 1 + turn) % size;
        const Range share{all.first + held_.count * other, held_.count};
        build_.receive(rank_at(digit, other, stride), sum(share), round_ + turn);
      }
      held_ = all;
      round_ += size - 1;
    }
  }

  // What was folded gets the result at the end.
  void unfold() {
    if (!everywhere_ || rank_ >= 2 * groups_.folded) return;
    const Range all{0, parts_};
    std::uint32_t last = 1;
    for (const std::uint32_t size : groups_.sizes) last += 2 * (size - 1);
    const Rank giver = giver_of(rank_ / 2, request_.root);
    if (giver == rank_) {
      build_.receive(rank_ ^ 1, slice({Buffer::receive, 0}, all), last);
    } else {
      build_.send(giver, slice({Buffer::receive, 0}, all), last);
    }
  }

 private:
  bool has_result() const { return everywhere_ || rank_ == request_.root; }

  struct Place {
    Buffer buffer = Buffer::scratch;
    std::uint32_t copy = 0;  // of the vector, in scratch
  };
  struct Incoming {
    Rank peer;
    bool above;
    std::uint32_t round;
  };

  Slice slice(const Place& place, const Range& range) {
    if (place.buffer != Buffer::scratch) {
      return ProgramBuilder::slice(place.buffer, range.first, range.count);
    }
    program_.scratch_units = std::max(program_.scratch_units, (place.copy + 1) * parts_);
    return ProgramBuilder::slice(Buffer::scratch, place.copy * parts_ + range.first, range.count);
  }
  Slice own(const Range& range) const {
    return ProgramBuilder::slice(Buffer::send, range.first, range.count);
  }
  Slice sum(const Range& range) { return placed_ ? slice(places_[at_], range) : own(range); }

  // The members of a group give each other their shares: to the t-th above, from the t-th below.
  void exchange(std::uint32_t size, std::uint32_t digit, std::uint32_t stride) {
    const Range all{held_.first - held_.count * digit, held_.count * size};
    for (std::uint32_t turn = 0; turn + 1 < size; ++turn) {
      const std::uint32_t to = (digit + 1 + turn) % size;
      const std::uint32_t from = (digit + size - 1 - turn) % size;
      build_.send(rank_at(digit, to, stride), sum(held_), round_ + turn);
      const Range share{all.first + held_.count * from, held_.count};
      build_.receive(rank_at(digit, from, stride), sum(share), round_ + turn);
    }
    held_ = all;
    round_ += size - 1;
  }

  Rank rank_at(std::uint32_t digit, std::uint32_t other, std::uint32_t stride) const {
    return rank_of(member_ + (other - digit) * stride, groups_, request_.root);
  }

  // Adds `count` operands to the parts `range` of the sum: first those from below, then those from
  // above. `send` writes what this rank sends in the same round.
  template <class Source, class Send>
  void add_up(const Range& range, std::uint32_t count, Source source, Send send) {
    const Slice before = sum(range);
    bool from_above = false;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Incoming incoming = source(i);
      send(i);
      if (!incoming.above) {
        if (!placed_) {
          placed_ = true;
          build_.copy(sum(range), before, incoming.round);
        }
        build_.receive_combine(incoming.peer, sum(range), incoming.round);
      } else if (!from_above) {
        from_above = true;
        other_ = placed_ ? 1 - at_ : at_;
        build_.receive(incoming.peer, slice(places_[other_], range), incoming.round);
      } else {
        build_.receive_combine(incoming.peer, slice(places_[other_], range), incoming.round);
      }
      if (from_above && i + 1 == count) {
        build_.combine(slice(places_[other_], range), sum(range), incoming.round);
        at_ = other_;
        placed_ = true;
      }
    }
  }
  template <class Source>
  void add_up(const Range& range, std::uint32_t count, Source source) {
    add_up(range, count, source, [](std::uint32_t) {});
  }

  bool everywhere_;  // all ranks get the result
  const PlanRequest& request_;
  const Groups& groups_;
  Rank rank_;
  std::uint32_t member_;
  std::uint32_t root_;  // the root's member
  std::uint32_t parts_;
  Range held_;  // the parts whose sum is this rank's at this point
  std::uint32_t round_ = 0;
  Place places_[2] = {{Buffer::scratch, 0}, {Buffer::scratch, 1}};
  std::uint32_t at_ = 0;
  std::uint32_t other_ = 0;
  bool placed_ = false;  // the sum is in places_[at_], no longer in `send`
  Program& program_;
  ProgramBuilder build_;
};

}  // namespace

PlanHeader describe_groups(Collective collective, std::string_view algorithm,
                           const PlanRequest& request, const Groups& groups) {
  std::uint32_t rounds = groups.folded > 0 ? 1 : 0;
  if (collective == Collective::allreduce) rounds *= 2;
  for (const std::uint32_t size : groups.sizes) rounds += 2 * (size - 1);
  PlanHeader header = plain_header(collective, algorithm, request, rounds);
  header.segments = members_of(groups);
  header.tag_span = request.ranks > 1 ? 2 : 1;  // a share one way in each of the two halves
  header.keeps_order = true;
  return header;
}

void plan_groups(Collective collective, const PlanRequest& request, const Groups& groups, Rank rank,
                 Program& program) {
  Writer writer(collective, request, groups, rank, program);
  if (!writer.fold()) {
    writer.scatter();
    writer.gather();
  }
  writer.unfold();
}

Groups pairs_of(Rank ranks) {
  static constexpr auto twos = [] {
    std::array<std::uint32_t, 31> list{};
    list.fill(2);
    return list;
  }();
  const auto all = static_cast<std::uint32_t>(ranks);
  const auto digits = static_cast<std::size_t>(std::bit_width(all) - 1);
  return {std::span(twos).first(digits), static_cast<Rank>(all - std::bit_floor(all))};
}

Factors::Factors(Rank ranks) {
  constexpr std::uint32_t largest_group = 8;
  auto left = static_cast<std::uint32_t>(ranks);
  for (std::uint32_t size = largest_group; size > 1; --size) take(size, left);
  for (std::uint64_t size = largest_group + 1; size * size <= left; ++size) {
    take(static_cast<std::uint32_t>(size), left);
  }
  if (left > 1) take(left, left);
}

void Factors::take(std::uint32_t size, std::uint32_t& left) {
  for (; left % size == 0; left /= size) sizes_[count_++] = size;
}

}  // namespace sibyl
