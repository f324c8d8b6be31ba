// Random broadcasts, allgathers and all-to-alls beside the serial reference; see
// reference_cases.hpp.
#include <algorithm>
#include <numeric>
#include <optional>

#include "collectives/reference_sides.hpp"

namespace sibyl::reference {
namespace {

bool sends_to_each(Call call) { return call == Call::alltoall || call == Call::alltoallv; }

enum class End { send, receive };

// Blocks that a rank has at one end, in units; of what goes to all one block.
std::vector<int> units_of(const ExchangeCase& now, End end, std::size_t rank) {
  if (now.call == Call::bcast) return {now.units[0][0]};
  if (end == End::send && !sends_to_each(now.call)) return {now.units[rank][0]};
  if (end == End::send) return now.units[rank];
  std::vector<int> all;
  for (const std::vector<int>& row : now.units) all.push_back(row[rank]);
  return all;
}

std::vector<int> counts_of(const ExchangeCase& now, End end, std::size_t rank) {
  std::vector<int> counts = units_of(now, end, rank);
  const int of_element = (end == End::send ? now.send_units : now.receive_units)[rank];
  for (int& count : counts) count /= of_element;
  return counts;
}

Random generator(const ExchangeCase& now, End end, std::size_t rank) {
  return Random(now.seed + 62 * (rank + 1) + (end == End::send ? 31 : 0));
}

bool goes_by_basic_types(Call call, int ranks, const Limits& limits) {
  return call == Call::alltoall && ranks > 12 && !limits.derived_swaps_of_many;
}

Type type_of(const ExchangeCase& now, End end, std::size_t rank, const Limits& limits) {
  Random random = generator(now, end, rank);
  const bool may_overlap = end == End::send && now.sends_overlap;
  const int units = (end == End::send ? now.send_units : now.receive_units)[rank];
  TypeLimits types = limits.types;
  types.basic_alone |= goes_by_basic_types(now.call, now.ranks, limits);
  return make_type(repeated(now.unit, units), may_overlap ? Overlap::allowed : Overlap::forbidden,
                   types, random);
}

// What a rank has for another one; for all alike where it goes to all.
Bytes data_of(const ExchangeCase& now, std::size_t from, std::size_t to) {
  if (!sends_to_each(now.call)) to = 0;
  const auto bytes = static_cast<std::size_t>(bytes_of(now.unit));
  return noise(now.seed ^ (0x5bd1e995ULL * (from + 1)) ^ (0x9e3779b1ULL * (to + 1) << 20U),
               bytes * static_cast<std::size_t>(now.units[from][to]));
}

// Where elements share bytes, what the last of them put there.
Bytes sent_by(const ExchangeCase& now, std::size_t from, std::size_t to, const Limits& limits) {
  Bytes data = data_of(now, from, to);
  if (!now.sends_overlap || now.in_place) return data;
  const Region region{"own block", 0, counts_of(now, End::send, from).front()};
  Buffer buffer(layout_of(type_of(now, End::send, from, limits).map()), {region}, 0);
  buffer.put(region, data);
  return buffer.take(region.first, region.count);
}

void draw_units_of_blocks(ExchangeCase& now, int element, Random& random, const Limits& limits) {
  // Of ranks that hold the blocks of all.
  const std::size_t share = limits.largest / static_cast<std::size_t>(now.ranks);
  const bool swaps = now.in_place && sends_to_each(now.call);
  std::size_t largest = now.call == Call::bcast
                            ? limits.largest
                            : std::min(limits.largest, std::max<std::size_t>(share, 20000));
  if (swaps) largest = std::min(largest, limits.largest_swapped);
  if (now.call == Call::allgatherv) {
    largest = std::min(largest, limits.largest_gathered / static_cast<std::size_t>(now.ranks));
  }
  const auto any = [&] {
    return draw_units(now.unit, element, now.ranks, largest, limits, random);
  };
  const auto ranks = static_cast<std::size_t>(now.ranks);
  now.units.assign(ranks, std::vector<int>(ranks, any()));
  if (!is_irregular(now.call)) return;
  const std::uint64_t empty = one_in(random, 4) ? 2 : 8;
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      int& units = now.units[from][to];
      if (now.call == Call::allgatherv && to > 0) {
        units = now.units[from][0];
      } else if (now.in_place && to < from && sends_to_each(now.call)) {
        units = now.units[to][from];  // blocks change places
      } else {
        units = one_in(random, empty) ? 0 : any();
      }
    }
  }
}

// An element of so many units that all blocks are whole ones.
int draw_element(const std::vector<int>& units, int at_most, Random& random) {
  int common = 0;
  for (const int of_block : units) common = std::gcd(common, of_block);
  return common == 0 ? static_cast<int>(between(random, 1, 3))
                     : draw_divisor(common, at_most, random);
}

std::vector<int> places_of(const ExchangeCase& now, const std::vector<int>& counts,
                           Random& random) {
  return is_irregular(now.call) ? draw_places(counts, random) : places_in_a_row(counts);
}

std::vector<Region> regions_of(const std::vector<int>& counts, const std::vector<int>& places) {
  std::vector<Region> regions;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    regions.push_back({"block " + std::to_string(i), places[i], counts[i]});
  }
  return regions;
}

int invoke(const ExchangeCase& now, const Library& library, const Side& out, const Side& in,
           MPI_Comm comm) {
  switch (now.call) {
    case Call::bcast:
      return library.bcast(in.buffer, in.count, in.type, now.root, comm);
    case Call::allgather:
      return library.allgather(out.buffer, out.count, out.type, in.buffer, in.count, in.type, comm);
    case Call::allgatherv:
      return library.allgatherv(out.buffer, out.count, out.type, in.buffer, in.counts, in.places,
                                in.type, comm);
    case Call::alltoall:
      return library.alltoall(out.buffer, out.count, out.type, in.buffer, in.count, in.type, comm);
    default:
      return library.alltoallv(out.buffer, out.counts, out.places, out.type, in.buffer, in.counts,
                               in.places, in.type, comm);
  }
}

// A buffer of this rank, with what MPI is given for it.
class Given {
 public:
  Given(const ExchangeCase& now, End end, std::size_t rank, const Limits& limits)
      : type_(type_of(now, end, rank, limits)),
        counts_(counts_of(now, end, rank)),
        places_((end == End::send ? now.send_places : now.receive_places)[rank]),
        buffer_(layout_of(type_.map()), regions_of(counts_, places_),
                now.seed + 7 * rank + (end == End::send ? 1 : 2)) {}
  Buffer& buffer() { return buffer_; }
  const Region& region(std::size_t block) const { return buffer_.regions()[block]; }
  std::size_t blocks() const { return counts_.size(); }
  Side side(bool bottom) {
    Side side{buffer_.base(), counts_.front(), type_.handle(), counts_.data(), places_.data()};
    if (bottom) {
      absolute_.emplace(type_, side.buffer);
      side.buffer = MPI_BOTTOM;
      side.type = absolute_->handle();
    }
    return side;
  }

 private:
  Type type_;
  std::vector<int> counts_;
  std::vector<int> places_;
  Buffer buffer_;
  std::optional<Absolute> absolute_;
};

std::string text_of_side(const ExchangeCase& now, End end, std::size_t rank, const Limits& limits) {
  const Type type = type_of(now, end, rank, limits);
  const bool bottom = (end == End::send ? now.send_bottom : now.receive_bottom)[rank];
  const std::vector<int> counts = counts_of(now, end, rank);
  const std::vector<int>& places = (end == End::send ? now.send_places : now.receive_places)[rank];
  std::string text = end == End::send ? "sends" : "receives";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    text += " " + std::to_string(counts[i]) + "@" + std::to_string(places[i]);
  }
  return text + " of " + (bottom ? "(absolute) " : "") + type.text() + ", extent " +
         std::to_string(type.map().extent());
}

}  // namespace

ExchangeCase draw_exchange_case(Call call, int ranks, std::uint64_t seed, const Limits& limits) {
  Random random(seed);
  ExchangeCase now;
  now.call = call;
  now.ranks = ranks;
  now.seed = seed;
  now.root = call == Call::bcast ? static_cast<int>(between(random, 0, ranks - 1)) : 0;
  now.in_place = call != Call::bcast && one_in(random, 4);
  now.unit = draw_unit(limits, random);
  const auto length = std::max<std::size_t>(now.unit.size(), 1);
  const auto at_most = static_cast<int>(most_entries / length);
  auto element = static_cast<int>(between(random, 1, one_in(random, 2) ? at_most : 4));
  const bool basic = goes_by_basic_types(call, ranks, limits);
  if (basic) {
    if (!now.unit.empty()) now.unit.resize(1);
    element = 1;
  }
  draw_units_of_blocks(now, element, random, limits);
  now.sends_overlap = !sends_to_each(call) && call != Call::bcast && one_in(random, 6);
  const bool alike = call == Call::allgatherv && !limits.element_sizes_differ;
  const auto draw = [&](End end, std::size_t rank) {
    return alike || basic ? element : draw_element(units_of(now, end, rank), at_most, random);
  };
  for (std::size_t rank = 0; rank < now.units.size(); ++rank) {
    now.send_units.push_back(draw(End::send, rank));
    now.receive_units.push_back(draw(End::receive, rank));
    const bool bottom = limits.bottom && !basic && !now.unit.empty() && one_in(random, 16);
    const bool sending = call != Call::bcast && !now.in_place && one_in(random, 2);
    now.send_bottom.push_back(bottom && sending);  // libraries take two for the same memory
    now.receive_bottom.push_back(bottom && !sending);
    now.send_places.push_back(sends_to_each(call)
                                  ? places_of(now, counts_of(now, End::send, rank), random)
                                  : std::vector<int>{0});
    now.receive_places.push_back(places_of(now, counts_of(now, End::receive, rank), random));
    if (ranks == 1 && call == Call::allgatherv && !limits.places_of_one_rank) {
      now.receive_places.front().front() = 0;
    }
  }
  now.garbage = limits.garbage_where_not_significant && !one_in(random, 4);
  return now;
}

std::string describe(const ExchangeCase& now, const Limits& limits) {
  std::string text =
      std::string(name_of(now.call)) + " of " + std::to_string(now.ranks) + " ranks" +
      (now.call == Call::bcast ? ", root " + std::to_string(now.root) : "") +
      (now.in_place ? ", in place" : "") + (now.garbage ? ", garbage where not significant" : "") +
      ", signature " + text_of(now.unit) + "\n";
  for (std::size_t rank = 0; rank < now.units.size(); ++rank) {
    text += "  rank " + std::to_string(rank) + " ";
    if (now.call != Call::bcast && !now.in_place) {
      text += text_of_side(now, End::send, rank, limits) + "\n    ";
    }
    text += text_of_side(now, End::receive, rank, limits) + "\n";
  }
  return text;
}

std::string run(const ExchangeCase& now, const Limits& limits, const Library& library,
                MPI_Comm comm) {
  int me = 0;
  MPI_Comm_rank(comm, &me);
  const auto rank = static_cast<std::size_t>(me);
  const auto root = static_cast<std::size_t>(now.root);
  const bool is_bcast = now.call == Call::bcast;

  Given in(now, End::receive, rank, limits);
  std::optional<Given> out;
  if (!is_bcast && !now.in_place) {
    out.emplace(now, End::send, rank, limits);
    for (std::size_t to = 0; to < out->blocks(); ++to) {
      out->buffer().put(out->region(to), data_of(now, rank, to));
    }
  } else if (is_bcast && rank == root) {
    in.buffer().put(in.region(0), data_of(now, root, 0));
  } else if (!is_bcast) {
    for (std::size_t to = 0; to < in.blocks(); ++to) {
      if (sends_to_each(now.call) || to == rank) {
        in.buffer().put(in.region(to), data_of(now, rank, to));
      }
    }
  }
  const std::optional<Buffer> sent = out ? std::optional<Buffer>(out->buffer()) : std::nullopt;
  Buffer expected = in.buffer();
  for (std::size_t from = 0; from < in.blocks(); ++from) {
    expected.put(in.region(from), sent_by(now, is_bcast ? root : from, rank, limits));
  }

  const Side in_side = in.side(now.receive_bottom[rank]);
  Side out_side;
  if (out) {
    out_side = out->side(now.send_bottom[rank]);
  } else if (!now.garbage) {
    out_side = in_side;
  }
  if (now.in_place) out_side.buffer = MPI_IN_PLACE;
  std::string wrong = text_of_error(invoke(now, library, out_side, in_side, comm));
  if (out) wrong += compared("send buffer", out->buffer(), *sent);
  return wrong + compared("receive buffer", in.buffer(), expected);
}

}  // namespace sibyl::reference
