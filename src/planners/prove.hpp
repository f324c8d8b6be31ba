// Plans and verifies in one go, plan after plan in the same storage: what `sibyl verify` and the
// tests run millions of times.
#pragma once

#include <vector>

#include "schedule/verify.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {

// Storage that is kept from plan to plan. Use one per thread.
struct ProofStorage {
  Verifier verifier;
  std::vector<Program> programs;
};

// Plans all ranks of the request and verifies the plan. A request that cannot be planned gives the
// line of check_request as the problem. `in_place` of the request is read as make_plan reads it.
VerifyResult verify_algorithm(const Algorithm& algorithm, const PlanRequest& request,
                              ProofStorage& storage);

}  // namespace sibyl
