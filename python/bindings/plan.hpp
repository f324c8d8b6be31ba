// A plan as Python holds it, and what the binding files share.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sibyl/planners.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl::python {

// What Python asks of a planner: PlanRequest with storage of its own for the order.
struct Request {
  const Algorithm* algorithm = nullptr;
  PlanRequest request;
  std::vector<Rank> order;
};

// Raises ValueError with one line when there is no such algorithm or it cannot plan this.
std::unique_ptr<Request> read_request(const std::string& collective, const std::string& algorithm,
                                      std::int64_t ranks, std::int64_t root,
                                      const std::optional<std::vector<std::int64_t>>& order,
                                      bool background, bool in_place, std::int64_t operator_rounds);

// Raises ValueError when there is no collective of that name.
Collective read_collective(const std::string& name);

// Raises VerificationError with one line that says what is wrong with the plan.
void verify_or_throw(const Plan& plan);

void bind_algorithms(nanobind::module_& module);
void bind_plan(nanobind::module_& module);
void bind_proof(nanobind::module_& module);

}  // namespace sibyl::python
