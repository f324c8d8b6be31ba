// Clairvoyant generalised: schedules of rounds for collectives whose results go to all ranks, from
// the times at which the ranks arrive.
//
// State: for every segment who holds an operand or partial sum of it that has not been merged, and
// who holds its result. A round is a matching: every rank that is there sends at most one segment
// and receives at most one. There are two kinds of message: a *merge* (the sender's partial into
// the receiver's, which must hold one) and a *delivery* (the result to a rank that lacks it). An
// allreduce is both, a broadcast deliveries only. The reduce stays with its own generators
// (clairvoyant.hpp), whose events are the published ones. This one makes none: after the last
// arrival it merges at owners alone, and were the root every segment's, its port would take
// N (p - 1) rounds where all come at once, for which Clairvoyant takes N + log2 p.
//
// Every segment has an owner, at which its sum comes together; nobody else computes it, so that all
// ranks get the same bits. What is owned is what tells ranks with time to spare from late ones:
//   - Before all are there, owners are chosen so that all ranks will have received equally much at
//     the end, were all operands sent straight to them. What belongs to an owner that is not there
//     yet is merged between others, from later to earlier ranks.
//   - When the last one arrives, owners are chosen anew among those who hold something of a
//     segment: the segments with most partials left first, each to the rank that has least to
//     merge; then ranks that have much give to others, or change with them.
// From then on segments with few partials left come first at all ranks, so that results are there
// soon and can spread while others are still merged. In a round the first copy of a result leaves
// first, then merges come, the rank with most left to send choosing first; then the newest results,
// of which there are few; then every rank that can still receive is matched to one that can still
// send, the newest segment that one has and the other lacks being sent.
//
// All ranks generate the same schedule from the same request: everything is computed in integers
// but the rounds of arrival, each one IEEE division.
#pragma once

#include <cstdint>
#include <span>

#include "sibyl/clairvoyant.hpp"

namespace sibyl {

struct ExchangeRequest {
  std::span<const double> arrivals;  // of rank 0, 1, ...: seconds, finite, not negative
  std::uint32_t segments = 1;
  double round_time = 1;  // seconds; positive, normal, finite
  // The rank that has every segment's result from its arrival on, in a broadcast; no_rank: the
  // results are sums of what all ranks have.
  Rank source = no_rank;
};

// Events by round. A receiver that still has its own part or sum of a segment merges what it gets,
// one that has sent it away gets the result.
ClairvoyantEvents make_exchange(const ExchangeRequest& request);

// The rounds in which ranks arrive, the first at 0.
std::vector<std::uint32_t> arrival_rounds(std::span<const double> arrivals, double round_time);

// Rounds after the last arrival that no schedule can beat: N (p + kappa - 2) / p for N segments,
// where kappa partials of a segment are left at best when the last rank arrives, and
// N + ceil(log2 p) - 1, in which all segments leave that rank and the last of them spreads.
double exchange_bound(std::span<const std::uint32_t> arrival_rounds, std::uint32_t segments,
                      bool merges);

}  // namespace sibyl
