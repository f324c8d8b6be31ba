// Where the steps of a plan stand in a picture of space and time: the round gives the column, and
// within a round a step stands after the steps and messages that it waits for. Rounds without a
// step have no column: waiting for a late rank may take millions.
//
// The picture shows a rank as if it had one port: of two sends of one rank the later in program
// order stands behind, of two receives likewise, a receive stands behind the sends before it, and a
// local step between what is before and behind it.
// A send waits for its receive, as in a rendezvous, and stands just before it if it can.
// Where a plan cannot run like that, only what must wait stands behind.
#pragma once

#include <cstdint>
#include <vector>

#include "sibyl/schedule.hpp"

namespace sibyl {

struct SpaceTime {
  // Step i of rank r has the number first_step[r] + i.
  std::vector<std::uint32_t> first_step;
  std::vector<std::uint32_t> partner;  // of a message: the number of its other end
  std::vector<std::uint32_t> column;   // of a step
  std::vector<std::uint32_t> level;    // of a step: its place within its column
  std::vector<std::uint32_t> rounds;   // of a column: which round it shows
  std::vector<std::uint32_t> levels;   // of a column: how many places it has
};

// The plan must be one that verifies.
SpaceTime place_steps(const Plan& plan);

}  // namespace sibyl
