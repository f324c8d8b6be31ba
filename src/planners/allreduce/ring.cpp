// Allreduce around a ring, in p parts or in pieces of them.
//
// Idea: the sum of a part goes once around the ring and takes up one operand at every rank, all
// parts at the same time; then the sums go around once more. Parts in pieces let a rank add up one
// piece while the next is under way.
//
// p no power of two: no matter.
// Commutativity: required; the sum of a part begins at any rank of the ring.
// In place: at any rank.
// Cost with N segments: 2 (p-1) (ceil(N/p) alpha + beta m/p).
// Source: M. Barnett, R. Littlefield, D. G. Payne, R. van de Geijn, Global Combine on Mesh
//   Architectures, 1993; P. Patarasuk, X. Yuan, Bandwidth Optimal All-reduce Algorithms for
//   Clusters of Workstations, 2009.
#include <algorithm>

#include "planners/allreduce/allreduce.hpp"
#include "planners/circulant_sums.hpp"
#include "planners/headers.hpp"
#include "planners/parts.hpp"

namespace sibyl::allreduce {
namespace {

// Pieces of each of the p parts: as many as make up the segments asked for.
Unit pieces_of(const PlanRequest& request) {
  const auto ranks = static_cast<Unit>(request.ranks);
  return std::max<Unit>(1, request.segments / ranks + (request.segments % ranks != 0 ? 1 : 0));
}

}  // namespace

std::string check_ring(const PlanRequest& request) {
  constexpr std::uint32_t most = 1U << 20;
  if (request.segments > most) {
    return std::to_string(request.segments) + " segments are more than a ring can use; ask for " +
           std::to_string(most) + " at most";
  }
  return check_part_per_rank(request);
}

PlanHeader describe_ring(const PlanRequest& request) {
  const auto others = static_cast<std::uint32_t>(request.ranks - 1);
  const Unit pieces = pieces_of(request);
  PlanHeader header = plain_header(Collective::allreduce, "ring", request, 2 * others * pieces);
  header.segments = pieces * static_cast<Unit>(request.ranks);
  header.tag_span = std::max<std::uint32_t>(1, 2 * others * pieces);
  return header;
}

void plan_ring(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  program.in_place = request.in_place;
  ProgramBuilder build(program);
  const Rank ranks = request.ranks;
  const Unit pieces = pieces_of(request);
  const RingSeat seat = seat_of(ranks, rank);
  append_ring_sums(seat, pieces, pieces, {Buffer::receive, request.in_place}, build);
  append_ring_copies(seat, ranks, pieces, static_cast<std::uint32_t>(ranks - 1) * pieces,
                     Gate::on_arrival, build);
  if (ranks == 1 && !request.in_place) {
    build.copy(ProgramBuilder::slice(Buffer::receive, 0, pieces),
               ProgramBuilder::slice(Buffer::send, 0, pieces), 0);
  }
}

}  // namespace sibyl::allreduce
