// Allreduce in segments after a Clairvoyant schedule: parts come together between the ranks that
// are there, and results go out while other segments still come together.
//
// Idea: all ranks generate the same schedule from the same arrival pattern; each sends and receives
// what its events say, round by round. The sum of a segment is complete at one rank, which sends it
// on.
//
// p no power of two: no matter. Commutativity: required; parts come together in the order of
// arrival. In place: at any rank.
// Cost after the last arrival: about N (p+k-2)/p + 2 log2 p rounds of alpha + beta m/N for a vector
// of m in N segments, of each of which k parts are left to be added up then: p where all arrive at
// once, 2 where one is late by more than the others need.
// Source: the generator's (../clairvoyant/exchange.hpp). What is known of late ranks was used for
//   reduce by P. Marendic et al., 2016, and J. Proficz, K. M. Ocetkiewicz, 2020; for an allreduce
//   with one late rank by StragglAR (arXiv 2505.23523).
#include "planners/allreduce/allreduce.hpp"
#include "planners/exchange_programs.hpp"

namespace sibyl::allreduce {

std::string check_clairvoyant(const PlanRequest& request) {
  return check_exchange(Collective::allreduce, request);
}

PlanHeader describe_clairvoyant(const PlanRequest& request) {
  return describe_exchange(Collective::allreduce, request);
}

void plan_clairvoyant(const PlanRequest& request, Rank rank, Program& program) {
  plan_one_exchange(Collective::allreduce, request, rank, program);
}

PlanHeader plan_all_clairvoyant(const PlanRequest& request, std::span<Program> programs) {
  return plan_all_exchange(Collective::allreduce, request, programs);
}

PlanHeader plan_one_clairvoyant(const PlanRequest& request, Rank rank, Program& program) {
  return plan_one_exchange(Collective::allreduce, request, rank, program);
}

}  // namespace sibyl::allreduce
