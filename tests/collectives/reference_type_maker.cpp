// Random datatypes from a signature downwards; see reference_type_maker.hpp.
#include "collectives/reference_type_maker.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace sibyl::reference {
namespace {

// How far apart the entries of so many bytes may lie: root buffers hold many elements.
std::ptrdiff_t room_of(std::ptrdiff_t bytes) { return 4 * bytes + 32; }

// MPI's pairs, which are named types with gaps.
struct Pair {
  Basic value;
  MPI_Datatype type;
  const char* name;
  std::ptrdiff_t index_at;
  std::ptrdiff_t extent;
};

const std::array<Pair, 5>& pairs() {
  static const std::array<Pair, 5> all{{
      {Basic::single_float, MPI_FLOAT_INT, "float_int", 4, 8},
      {Basic::double_float, MPI_DOUBLE_INT, "double_int", 8, 16},
      {Basic::long_integer, MPI_LONG_INT, "long_int", 8, 16},
      {Basic::short_integer, MPI_SHORT_INT, "short_int", 4, 8},
      {Basic::integer, MPI_2INT, "2int", 4, 8},
  }};
  return all;
}

Type leaf(Basic basic) {
  const BasicRow& row = row_of(basic);
  return {row.type, true, TypeMap{{{basic, 0}}, 0, row.bytes, false}, row.name};
}

Type leaf(const Pair& pair) {
  TypeMap map{{{pair.value, 0}, {Basic::integer, pair.index_at}}, 0, pair.extent, false};
  return {pair.type, true, std::move(map), pair.name};
}

// How often a part of a signature may repeat in it.
std::vector<int> repetitions(const Signature& signature, bool of_basic_types_only) {
  std::vector<int> times;
  for (std::size_t n = 1; n <= signature.size(); ++n) {
    if (signature.size() % n != 0) continue;
    const std::size_t part = signature.size() / n;
    if (of_basic_types_only && part != 1) continue;
    const auto shift = static_cast<std::ptrdiff_t>(part);
    if (std::equal(signature.begin(), signature.end() - shift, signature.begin() + shift)) {
      times.push_back(static_cast<int>(n));
    }
  }
  return times;
}

bool steps_past(const TypeMap& map, std::ptrdiff_t extent) {
  return extent >= span_of(map) || -extent >= span_of(map);
}

}  // namespace

std::ptrdiff_t alignment_of(const TypeMap& map) {
  std::ptrdiff_t alignment = 1;
  for (const Entry& entry : map.entries) {
    alignment = std::max(alignment, row_of(entry.basic).alignment);
  }
  return alignment;
}

std::ptrdiff_t span_of(const TypeMap& map) { return map.true_upper() - map.true_lower(); }

TypeMap joined(const std::vector<Block>& blocks) {
  TypeMap all;
  for (const Block& block : blocks) all.marked |= block.copies > 0 && block.map->marked;
  bool first = true;
  for (const Block& block : blocks) {
    for (int i = 0; i < block.copies; ++i) {
      const std::ptrdiff_t shift = block.at + i * block.map->extent();
      for (const Entry& entry : block.map->entries) {
        all.entries.push_back({entry.basic, entry.at + shift});
      }
      if (block.map->entries.empty() && !block.map->marked) continue;  // nothing has no bounds
      if (all.marked && !block.map->marked) continue;
      const std::ptrdiff_t low = block.map->lower + shift;
      const std::ptrdiff_t high = block.map->upper + shift;
      all.lower = first ? low : std::min(all.lower, low);
      all.upper = first ? high : std::max(all.upper, high);
      first = false;
    }
  }
  return all;
}

Type made(MPI_Datatype handle, TypeMap map, std::string text) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  if (!map.marked && MPI_Type_get_extent(handle, &lower, &extent) == MPI_SUCCESS) {
    const std::ptrdiff_t added = extent - map.extent();
    if (lower == map.lower && added > 0 && added < 16) map.upper += added;
  }
  return {handle, false, std::move(map), std::move(text)};
}

bool TypeMaker::elements_fit(const TypeMap& map, std::ptrdiff_t extent, Overlap overlap) const {
  if (overlap == Overlap::forbidden && !steps_are_disjoint(map, extent)) return false;
  return limits_.interleaved_elements || steps_past(map, extent);
}

Type TypeMaker::outermost(const Signature& signature, Overlap overlap) {
  if (limits_.basic_alone && signature.size() == 1) return leaf(signature[0]);
  Type type = make(signature, static_cast<int>(between(random_, 0, limits_.depth)));
  const bool fits = elements_fit(type.map(), type.map().extent(), overlap);
  if (fits && !one_in(random_, 3)) return type;
  const TypeMap& map = type.map();
  const std::ptrdiff_t unit = alignment_of(map);
  for (int tries = 0; tries < 20; ++tries) {
    std::ptrdiff_t extent = unit * between(random_, 0, room_of(span_of(map)) / unit / 2);
    if (limits_.negative_extents && one_in(random_, 4)) extent = -extent;
    if (!elements_fit(map, extent, overlap)) continue;
    return resized(std::move(type), map.lower + unit * between(random_, -4, 4), extent);
  }
  return tight(std::move(type));
}

Type TypeMaker::resized(Type inner, std::ptrdiff_t lower, std::ptrdiff_t extent) {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(inner.handle(), lower, extent, &handle);
  TypeMap map = inner.map();
  map.lower = lower;
  map.upper = lower + extent;
  map.marked = true;
  return made(handle, std::move(map),
              "resized(" + std::to_string(lower) + ", " + std::to_string(extent) + ", " +
                  inner.text() + ")");
}

Type TypeMaker::tight(Type inner) {
  const std::ptrdiff_t unit = alignment_of(inner.map());
  const std::ptrdiff_t lower = inner.map().true_lower();
  const std::ptrdiff_t extent = (span_of(inner.map()) + unit - 1) / unit * unit;
  return resized(std::move(inner), lower, extent);
}

Type TypeMaker::make(const Signature& signature, int depth) {
  if (signature.empty()) return nothing(depth);
  if (signature.size() == 2 && signature[1] == Basic::integer && !one_in(random_, 3)) {
    for (const Pair& pair : pairs()) {
      const bool one_size = row_of(pair.value).bytes == row_of(Basic::integer).bytes;
      if (one_size && !limits_.pairs_of_one_size) continue;
      if (pair.value == signature[0]) return leaf(pair);
    }
  }
  if (signature.size() == 1 && (depth <= 0 || one_in(random_, 3))) return leaf(signature[0]);
  if (depth > 0 && one_in(random_, 6)) {
    Type inner = make(signature, depth - 1);
    const std::ptrdiff_t unit = alignment_of(inner.map());
    const std::ptrdiff_t span = std::max(span_of(inner.map()), unit);
    const std::ptrdiff_t lower = inner.map().true_lower() + unit * between(random_, -4, 2);
    return resized(std::move(inner), lower, unit * between(random_, 1, 2 * span / unit + 1));
  }
  const std::vector<int> times = repetitions(signature, depth <= 0);
  if (times.empty() || (depth > 0 && one_in(random_, 3))) return structure(signature, depth);
  const int n = times[pick(random_, times.size())];
  const auto part = static_cast<std::ptrdiff_t>(signature.size()) / n;
  return repeat(make(Signature(signature.begin(), signature.begin() + part), depth - 1), n);
}

Type TypeMaker::nothing(int depth) {
  const std::array<int, 1> zero{0};
  const std::array<int, 1> three{3};
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  switch (pick(random_, depth > 0 ? 5 : 3)) {
    case 0:
      MPI_Type_contiguous(0, MPI_DOUBLE, &handle);
      return made(handle, {}, "contiguous(0, double)");
    case 1:
      MPI_Type_vector(0, 2, -3, MPI_INT, &handle);
      return made(handle, {}, "vector(0, 2, -3, int)");
    case 2:
      MPI_Type_indexed(1, zero.data(), three.data(), MPI_SHORT, &handle);
      return made(handle, {}, "indexed([0] [3], short)");
    case 3:
      return resized(nothing(depth - 1), 8 * between(random_, -2, 2), 8 * between(random_, 0, 3));
    default:
      return repeat(nothing(depth - 1), 2);
  }
}

std::vector<int> TypeMaker::split(int n) {
  std::vector<int> lengths;
  while (n > 0) {
    lengths.push_back(static_cast<int>(between(random_, 1, n)));
    n -= lengths.back();
    if (one_in(random_, 6)) lengths.push_back(0);
  }
  return lengths;
}

std::vector<int> TypeMaker::split_evenly(int n) {
  auto length = static_cast<int>(between(random_, 1, n));
  while (n % length != 0) --length;
  return std::vector<int>(static_cast<std::size_t>(n / length), length);
}

void TypeMaker::place(std::vector<Block>& blocks, const std::vector<std::ptrdiff_t>& units) {
  std::ptrdiff_t total = 0;
  for (const Block& block : blocks) total += block.copies * span_of(*block.map);
  const std::ptrdiff_t room = room_of(total) / 2;
  if (one_in(random_, 2)) {
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      blocks[b].at = units[b] * between(random_, -room / units[b] / 2, room / units[b]);
    }
    return;
  }
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random_);
  std::ptrdiff_t cursor = between(random_, -room / 2, room / 8);
  for (const std::size_t b : order) {
    blocks[b].at = 0;
    const TypeMap map = joined({blocks[b]});
    const std::ptrdiff_t unit = units[b];
    const std::ptrdiff_t wanted = cursor - map.true_lower();
    const std::ptrdiff_t up = wanted >= 0 ? (wanted + unit - 1) / unit : -(-wanted / unit);
    blocks[b].at = unit * (up + between(random_, 0, one_in(random_, 2) ? 2 : 0));
    cursor = blocks[b].at + map.true_upper();
  }
}

Type TypeMaker::structure(const Signature& signature, int depth) {
  std::vector<Type> members;
  std::vector<int> lengths;
  for (std::size_t first = 0; first < signature.size();) {
    std::size_t run = 1;
    while (first + run < signature.size() && signature[first + run] == signature[first]) ++run;
    if (depth > 0 && one_in(random_, 2)) {  // a piece of several basic types as one member
      run = 1 + pick(random_, signature.size() - first);
      const auto begin = signature.begin() + static_cast<std::ptrdiff_t>(first);
      const Signature piece(begin, begin + static_cast<std::ptrdiff_t>(run));
      members.push_back(make(piece, depth - 1));
      lengths.push_back(1);
    } else {
      members.push_back(leaf(signature[first]));
      lengths.push_back(static_cast<int>(run));
    }
    first += run;
    if (depth > 0 && one_in(random_, 8)) {
      members.push_back(nothing(depth - 1));
      lengths.push_back(static_cast<int>(pick(random_, 3)));
    }
  }
  std::vector<Block> blocks;
  std::vector<std::ptrdiff_t> units;
  bool mixed = false;
  for (std::size_t i = 0; i < members.size(); ++i) {
    blocks.push_back({&members[i].map(), lengths[i], 0});
    units.push_back(alignment_of(members[i].map()));
    mixed |= members[i].map().marked != members[0].map().marked;
  }
  place(blocks, units);
  TypeMap map = joined(blocks);
  for (int tries = 0; !is_disjoint(map); ++tries) {
    if (tries == 40) {  // copies of a member overlap by themselves, or chance is against it
      for (Type& member : members) {
        if (!member.map().entries.empty()) member = tight(std::move(member));
      }
    }
    place(blocks, units);
    map = joined(blocks);
  }
  std::vector<MPI_Aint> at;
  std::vector<MPI_Datatype> types;
  std::string text;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    at.push_back(blocks[i].at);
    types.push_back(members[i].handle());
    text += (i == 0 ? "" : ", ") + std::to_string(lengths[i]) + " x " + members[i].text() + " at " +
            std::to_string(blocks[i].at);
  }
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(static_cast<int>(types.size()), lengths.data(), at.data(), types.data(),
                         &handle);
  Type type = made(handle, std::move(map), "struct(" + text + ")");
  // Where bounds were given to some members only, MPICH minds those of the others as well.
  return mixed ? tight(std::move(type)) : std::move(type);
}

Type make_type(const Signature& signature, Overlap overlap, const TypeLimits& limits,
               Random& random) {
  for (;;) {
    Type type = TypeMaker(limits, random).outermost(signature, overlap);
    if (!type.disagreement().empty()) continue;
    type.commit();
    if (library_moves(type)) return type;
  }
}

}  // namespace sibyl::reference
