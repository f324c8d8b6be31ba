// Reduce after a Clairvoyant schedule.
#pragma once

#include <memory>
#include <span>

#include "sibyl/planners.hpp"

namespace sibyl::reduce {

// Empty when the arrivals, segments, round time and generator of the request fit.
std::string check_clairvoyant(const PlanRequest& request);
// Generates the whole schedule: rounds and tags are its.
PlanHeader describe_clairvoyant(const PlanRequest& request);
// Generates until `rank` has sent its last segment, and keeps only its events.
void plan_clairvoyant(const PlanRequest& request, Rank rank, Program& program);
// Header and program of `rank` from one schedule.
PlanHeader plan_one_clairvoyant(const PlanRequest& request, Rank rank, Program& program);
// The schedule of all ranks, a round at a time, for PlanRequest::schedule.
std::unique_ptr<ClairvoyantRounds> rounds_of(const PlanRequest& request);
// Header and programs of all ranks from one schedule.
PlanHeader plan_all_clairvoyant(const PlanRequest& request, std::span<Program> programs);

}  // namespace sibyl::reduce
