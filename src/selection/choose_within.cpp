// Choices by measurement; see choose_within.hpp.
//
// What a byte costs here is a matter of caches: whether it is copied once or twice, and how many
// read it. No latency and bandwidth foretell it, so the sizes below are where the algorithms passed
// each other on a machine of 16 cores, on 2, 4, 8 and 16 ranks of four MPI libraries
// (docs/results/one-node.md). Where another machine differs the governor finds out: from 4 KiB on
// it holds every choice against the library.
//
// Sums. Few ranks and short vectors go by trees; long ones in parts, each added up by one rank: by
// halves while a round costs more than what is copied, else in large groups, whose members read
// each other's parts at once, or along a ring, which keeps each part in one cache.
//
// Bcast. The root writes once, and all read that: no tree, which would copy at every level. Two
// ranks copy twice what the library may copy once: only Open MPI 4.1 was slower, so that is its
// own.
//
// A window that nobody asked for serves what it brings most for (range_of). Where it is asked for
// it serves all that.
#include "selection/choose_within.hpp"

#include <string_view>

namespace sibyl {
namespace {

constexpr std::uint64_t kib = 1024;
// Longer messages go by MPI (executor/program/window_messages.cpp).
constexpr std::uint64_t most_bytes = 64 * kib * kib;

struct Choice {
  std::string_view first;  // empty: the library
  std::string_view second;
};

Choice reduce_of(const Situation& now) {
  if (now.ranks == 2 || now.bytes < 16 * kib) return {"binomial", "rabenseifner"};
  if (now.bytes < 64 * kib) return {"rabenseifner", "radix-k"};
  return {"radix-k", "ring"};
}

Choice allreduce_of(const Situation& now) {
  const bool power_of_two = (now.ranks & (now.ranks - 1)) == 0;
  const std::string_view by_halves = power_of_two ? "rabenseifner" : "radix-k";
  const std::string_view otherwise = power_of_two ? "radix-k" : "rabenseifner";
  if (now.bytes < (now.ranks == 2 ? 16 : 8) * kib) return {"doubling", by_halves};
  if (now.ranks == 2) {
    return now.bytes < 128 * kib ? Choice{by_halves, "ring"} : Choice{"ring", by_halves};
  }
  if (now.bytes < 512 * kib) return {by_halves, otherwise};
  return now.ranks <= 4 ? Choice{"ring", "radix-k"} : Choice{"radix-k", "ring"};
}

Choice bcast_of(const Situation& now) {
  if (now.ranks == 2) return {};
  return {"linear", "binomial"};
}

// Bytes of the vectors that go by the window. Beside a library that is known: where they took at
// most some four fifths of its time on most numbers of ranks. What is nearer lies within what
// pages, caches and a call that comes cold make of either: sums of 64 KiB and more of two ranks
// took 0.6 to 1.5 of Open MPI 4.1's time from one job to the next.
struct Range {
  std::uint64_t from = least_within;
  std::uint64_t to = most_bytes + 1;
};

Range range_of(const Situation& now) {
  const bool two = now.ranks == 2;
  const bool sums_to_all = now.collective == Collective::allreduce;
  const bool sums = now.collective == Collective::reduce;
  switch (now.library) {
    case NativeLibrary::openmpi_4:
    case NativeLibrary::openmpi_5:
      if (two && sums && now.library == NativeLibrary::openmpi_5) return {.to = 0};
      if (two) return {.from = 8 * kib, .to = 64 * kib};
      return {.from = 8 * kib, .to = sums_to_all ? 128 * kib : most_bytes + 1};
    case NativeLibrary::mpich_40:
      if (sums_to_all) return {.from = 32 * kib, .to = 128 * kib};
      return {.from = sums ? (two ? 32 : 16) * kib : 8 * kib};
    case NativeLibrary::mpich_41:
      if (sums_to_all) return {.from = (two ? 64 : 32) * kib, .to = 128 * kib};
      return {.from = (sums ? (two ? 64 : 32) : 512) * kib};
    case NativeLibrary::mpich_5:
      if (two) return {.from = 64 * kib};
      if (sums_to_all) return {.from = 32 * kib};
      return {.from = (sums ? 16 : 512) * kib};
    default:
      return {};
  }
}

Choice choice_of(const Situation& now) {
  const Range range = range_of(now);
  if (now.ranks < 2 || now.bytes < range.from || now.bytes >= range.to) return {};
  switch (now.collective) {
    case Collective::reduce:
      return reduce_of(now);
    case Collective::allreduce:
      return allreduce_of(now);
    case Collective::bcast:
      return bcast_of(now);
    default:
      return {};
  }
}

const Algorithm* named(const Situation& now, std::string_view name) {
  const Algorithm* const row = name.empty() ? nullptr : find_algorithm(now.collective, name);
  return row != nullptr && row->commutative_only && !now.commutes ? nullptr : row;
}

}  // namespace

std::uint32_t window_that_pays(NativeLibrary library, Rank ranks) {
  constexpr Rank most_ranks = 16;
  constexpr std::uint32_t of_a_pair = 8 * 32 * kib;
  if (library == NativeLibrary::other || ranks < 2 || ranks > most_ranks) return 0;
  return of_a_pair * static_cast<std::uint32_t>(ranks * ranks);
}

const Algorithm* choose_within(const Situation& now) { return named(now, choice_of(now).first); }

const Algorithm* challenger_within(const Situation& now) {
  return named(now, choice_of(now).second);
}

}  // namespace sibyl
