// A plan as a GOAL schedule, the input of the simulator LogGOPSim (txt2bin, then LogGOPSim).
//
// Each step becomes one operation, receive_combine a recv and a calc that requires it; dependencies
// become `requires`. GOAL knows neither gates (every rank starts at time 0) nor a limit on
// outstanding messages: with a port window of w the k-th send requires the (k-w)-th, receives and
// the staging pool likewise, which for w = 1 is exactly the rule of the plan.
#pragma once

#include <cstdint>
#include <string>

#include "sibyl/schedule.hpp"

namespace sibyl {

struct GoalCosts {
  std::uint64_t bytes_per_unit = 8;   // of a part of the vector, or of a segment of a block
  double combine_ns_per_byte = 0.25;  // one application of the operator
  double copy_ns_per_byte = 0.1;
};

// The plan must be one that verifies. A control message becomes one of 1 byte: LogGOPSim charges
// for size - 1 bytes.
std::string export_goal(const Plan& plan, const GoalCosts& costs = {});

}  // namespace sibyl
