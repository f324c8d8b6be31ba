// Random gathers and scatters beside the serial reference; see reference_cases.hpp.
#include <algorithm>
#include <optional>

#include "collectives/reference_sides.hpp"

namespace sibyl::reference {
namespace {

bool goes_up(Call call) { return call == Call::gather || call == Call::gatherv; }

void draw_displacements(BlockCase& now, Random& random) {
  std::vector<int> counts;
  for (const int units : now.units) counts.push_back(units / now.root_units);
  now.displacements =
      is_irregular(now.call) ? draw_places(counts, random) : places_in_a_row(counts);
}

Random generator(const BlockCase& now, int rank) {
  return Random(now.seed + 31 * static_cast<std::uint64_t>(rank + 2));
}

Type own_type(const BlockCase& now, int rank, const Limits& limits) {
  Random random = generator(now, rank);
  const auto overlap = now.sends_overlap ? Overlap::allowed : Overlap::forbidden;
  const int units = now.own_units[static_cast<std::size_t>(rank)];
  TypeLimits types = limits.types;
  if (now.call == Call::gather) types.interleaved_elements &= limits.gathers_interleaved;
  return make_type(repeated(now.unit, units), overlap, types, random);
}

Type root_type(const BlockCase& now, const Limits& limits) {
  Random random = generator(now, -1);
  return make_type(repeated(now.unit, now.root_units), Overlap::forbidden, limits.types, random);
}

int invoke(const BlockCase& now, const Library& library, const Side& all, const Side& own,
           MPI_Comm comm) {
  switch (now.call) {
    case Call::gather:
      return library.gather(own.buffer, own.count, own.type, all.buffer, all.count, all.type,
                            now.root, comm);
    case Call::scatter:
      return library.scatter(all.buffer, all.count, all.type, own.buffer, own.count, own.type,
                             now.root, comm);
    case Call::gatherv:
      return library.gatherv(own.buffer, own.count, own.type, all.buffer, all.counts, all.places,
                             all.type, now.root, comm);
    default:
      return library.scatterv(all.buffer, all.counts, all.places, all.type, own.buffer, own.count,
                              own.type, now.root, comm);
  }
}

Bytes data_of(const BlockCase& now, std::size_t rank) {
  const auto bytes = static_cast<std::size_t>(bytes_of(now.unit));
  return noise(now.seed ^ (0x5bd1e995ULL * (rank + 1)),
               bytes * static_cast<std::size_t>(now.units[rank]));
}

Region own_region(const BlockCase& now, std::size_t rank) {
  return {"own block", 0, now.units[rank] / now.own_units[rank]};
}

// What a rank sends: where elements share bytes, what the last of them put there.
Bytes sent_by(const BlockCase& now, std::size_t rank, const Limits& limits) {
  Bytes data = data_of(now, rank);
  const bool in_place = now.in_place && rank == static_cast<std::size_t>(now.root);
  if (!now.sends_overlap || in_place) return data;
  const Region region = own_region(now, rank);
  Buffer buffer(layout_of(own_type(now, static_cast<int>(rank), limits).map()), {region}, 0);
  buffer.put(region, data);
  return buffer.take(region.first, region.count);
}

}  // namespace

BlockCase draw_block_case(Call call, int ranks, std::uint64_t seed, const Limits& limits) {
  Random random(seed);
  BlockCase now;
  now.call = call;
  now.ranks = ranks;
  now.seed = seed;
  now.root = static_cast<int>(between(random, 0, ranks - 1));
  now.in_place = one_in(random, 4);
  now.unit = draw_unit(limits, random);
  const auto length = std::max<std::size_t>(now.unit.size(), 1);
  const auto at_most = static_cast<int>(most_entries / length);
  now.root_units = static_cast<int>(between(random, 1, one_in(random, 2) ? at_most : 4));
  // Messages along a tree hold the blocks of several ranks.
  const auto units = [&] {
    return draw_units(now.unit, now.root_units, ranks, limits.largest, limits, random);
  };
  if (is_irregular(call)) {
    const bool sparse = one_in(random, 4);
    for (int rank = 0; rank < ranks; ++rank) {
      const bool empty = one_in(random, sparse ? 2 : 8);
      now.units.push_back(empty ? 0 : units());
    }
  } else {
    now.units.assign(static_cast<std::size_t>(ranks), units());
  }
  for (const int units : now.units) {
    now.own_units.push_back(units == 0 ? static_cast<int>(between(random, 1, 3))
                                       : draw_divisor(units, at_most, random));
    now.own_bottom.push_back(limits.bottom && units != 0 && !now.unit.empty() &&
                             one_in(random, 16));
  }
  now.root_bottom = limits.bottom && !now.unit.empty() && one_in(random, 16);
  now.sends_overlap = goes_up(call) && one_in(random, 6);
  now.garbage = limits.garbage_where_not_significant && !one_in(random, 4);
  draw_displacements(now, random);
  return now;
}

std::string describe(const BlockCase& now, const Limits& limits) {
  const Type root = root_type(now, limits);
  std::string text =
      std::string(name_of(now.call)) + " of " + std::to_string(now.ranks) + " ranks, root " +
      std::to_string(now.root) + (now.in_place ? " in place" : "") +
      (now.garbage ? ", garbage where not significant" : "") + ", signature " + text_of(now.unit) +
      "\n  root's type" + (now.root_bottom ? " (absolute): " : ": ") + root.text() + ", extent " +
      std::to_string(root.map().extent()) + "\n";
  for (std::size_t rank = 0; rank < now.units.size(); ++rank) {
    const Type own = own_type(now, static_cast<int>(rank), limits);
    text += "  rank " + std::to_string(rank) + ": " +
            std::to_string(now.units[rank] * bytes_of(now.unit)) + " bytes, " +
            std::to_string(now.units[rank] / now.root_units) + " elements at displacement " +
            std::to_string(now.displacements[rank]) + " of the root; own " +
            std::to_string(now.units[rank] / now.own_units[rank]) + " of " +
            (now.own_bottom[rank] ? "(absolute) " : "") + own.text() + ", extent " +
            std::to_string(own.map().extent()) + "\n";
  }
  return text;
}

std::string run(const BlockCase& now, const Limits& limits, const Library& library, MPI_Comm comm) {
  int me = 0;
  MPI_Comm_rank(comm, &me);
  const auto rank = static_cast<std::size_t>(me);
  const bool up = goes_up(now.call);
  const bool is_root = me == now.root;
  const bool in_place = now.in_place && is_root;

  const Type own = own_type(now, me, limits);
  const Region block = own_region(now, rank);
  Buffer own_buffer(layout_of(own.map()), {block}, now.seed + 77 + rank);
  if (up && !in_place) own_buffer.put(block, data_of(now, rank));
  Buffer own_expected = own_buffer;
  if (!up && !in_place) own_expected.put(block, data_of(now, rank));

  std::optional<Type> root;
  std::vector<Region> blocks;
  std::vector<int> counts;
  if (is_root) {
    root = root_type(now, limits);
    for (std::size_t r = 0; r < now.units.size(); ++r) {
      counts.push_back(now.units[r] / now.root_units);
      blocks.push_back({"block " + std::to_string(r), now.displacements[r], counts[r]});
    }
  }
  Buffer all_buffer(is_root ? layout_of(root->map()) : Layout{}, blocks, now.seed + 99);
  for (std::size_t r = 0; r < blocks.size(); ++r) {
    if (!up || (in_place && r == rank)) all_buffer.put(blocks[r], data_of(now, r));
  }
  Buffer all_expected = all_buffer;
  for (std::size_t r = 0; up && r < blocks.size(); ++r) {
    all_expected.put(blocks[r], sent_by(now, r, limits));
  }

  std::optional<Absolute> own_absolute;
  std::optional<Absolute> all_absolute;
  Side own_side;
  if (!in_place || !now.garbage) {
    own_side.buffer = own_buffer.base();
    own_side.count = static_cast<int>(block.count);
    own_side.type = own.handle();
    if (now.own_bottom[rank] && !in_place) {
      own_absolute.emplace(own, own_side.buffer);
      own_side.buffer = MPI_BOTTOM;
      own_side.type = own_absolute->handle();
    }
  }
  if (in_place) own_side.buffer = MPI_IN_PLACE;
  Side all_side;
  if (is_root) {
    all_side = {all_buffer.base(), counts.front(), root->handle(), counts.data(),
                now.displacements.data()};
    if (now.root_bottom) {
      all_absolute.emplace(*root, all_side.buffer);
      all_side.buffer = MPI_BOTTOM;
      all_side.type = all_absolute->handle();
    }
  } else if (!now.garbage) {
    all_side = {nullptr, 0, MPI_BYTE, nullptr, nullptr};
  }
  const int result = invoke(now, library, all_side, own_side, comm);
  std::string wrong = text_of_error(result);
  wrong += compared(up ? "send buffer" : "receive buffer", own_buffer, own_expected);
  if (is_root) wrong += compared("root's buffer", all_buffer, all_expected);
  return wrong;
}

}  // namespace sibyl::reference
