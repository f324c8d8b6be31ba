// Choices by measurement; see choose_within.hpp.
//
// What a byte costs here is a matter of caches: whether it is copied once or twice, and how many
// read it. No latency and bandwidth foretell it, so the sizes below are where the algorithms passed
// each other on a machine of 16 cores, on 2, 4, 8 and 16 ranks of four MPI libraries
// (docs/results/one-node.md). Where another machine differs the governor finds out: from 4 KiB on
// it holds every choice against the library. Below that there is little to win.
//
// Sums. Few ranks and short vectors go by trees; long ones in parts, each added up by one rank: by
// halves while a round costs more than what is copied, else in large groups, whose members read
// each other's parts at once, or along a ring, which keeps each part in one cache.
//
// Bcast. The root writes once, and all read that: no tree, which would copy at every level. Two
// ranks copy twice what the library may copy once: only Open MPI 4.1 was slower, so that is its
// own.
#include "selection/choose_within.hpp"

#include <string_view>

namespace sibyl {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t least_bytes = 4 * kib;
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

Choice choice_of(const Situation& now) {
  if (now.ranks < 2 || now.bytes < least_bytes || now.bytes > most_bytes) return {};
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

const Algorithm* choose_within(const Situation& now) { return named(now, choice_of(now).first); }

const Algorithm* challenger_within(const Situation& now) {
  return named(now, choice_of(now).second);
}

}  // namespace sibyl
