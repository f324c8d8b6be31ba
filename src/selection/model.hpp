// What messages and operators are taken to cost where nothing was measured.
//
// The Hockney model with a term for the operator, on two levels where ranks share nodes: a round in
// which c vectors leave every node costs alpha + m max(beta, c beta_node), one that stays within
// nodes its own alpha and beta; an application on the longest path costs gamma m. The constants
// stand for a cluster's interconnect (platforms/README.md); they decide only between near
// neighbours, so a factor of two in them changes little.
#pragma once

#include <cstdint>
#include <limits>

#include "selection/choose.hpp"

namespace sibyl {

// Messages are counted in an int, packed ones in bytes.
inline constexpr std::uint64_t message_limit = std::numeric_limits<std::int32_t>::max();
// Longer messages wait for their receivers: MPI libraries send them by rendezvous.
inline constexpr std::uint64_t sent_at_once = 16384;
// As good as the best by models that know nothing of what such messages do to each other: where
// MPICH sends segments so, a ring takes 1.5 times as long (docs/results/all-ranks.md), and so does
// Clairvoyant. Of numbers of segments as good as the best the fewest that are sent at once are
// taken, which also holds where what a message costs was measured on a busy machine.
inline constexpr double as_good = 1.25;
// Ranks that nothing is known of measure costs only for calls that may bring it back, in bytes over
// a link. A vector that one rank has or wants whole, or that passes through all of them, takes the
// libraries some times what a link needs, also where that is short; what all want gains nothing
// then (docs/results/performance.md).
inline double worth_measuring(const Situation& now) {
  const bool passes_whole = now.collective <= Collective::scan ||
                            now.collective == Collective::reduce ||
                            now.collective == Collective::bcast;
  return passes_whole && now.between_single_ranks() ? 16384 : 65536;
}

// Seconds per byte that an operator combines.
double gamma_of(OperatorUse use);
// The same, where what sums of predefined operators take was measured.
double gamma_of(OperatorUse use, const Costs& costs);
// A round of messages of `bytes`, of which `leaving` leave every node.
double round_cost(double bytes, std::uint64_t leaving);
// A round of messages to ranks at a distance, where nodes hold `per_node` ranks.
double shift_cost(double bytes, std::uint64_t distance, std::uint64_t per_node);

// How many segments of a vector of so many bytes may be under way to one rank; 0: any number.
// Messages that wait for their receivers share the link, and all of them are there when the last
// is, so that a pipeline passes nothing on until then. Where a link needs longer for one than a
// receiver to answer, two keep it busy: on 8 hosts at 100 Mbit/s a broadcast of 8 MiB along a chain
// takes 4.7 times as long as one link carries the vector without this limit, and 1.2 times with it
// (MPICH 4.0, December 2026). Faster links would be idle most of the time (simulated). Shorter
// messages have no limit: UCX calls them sent when they are acknowledged.
std::uint32_t most_sends_to_one(const Costs& costs, std::uint64_t bytes, std::uint32_t segments);

// How long an end of a message is busy with it while others are under way: what one more message
// costs in a long sequence of them.
double end_cost(double bytes);

}  // namespace sibyl
