// Programs of allreduces and broadcasts after the events of an exchange (clairvoyant/exchange.hpp).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sibyl/planners.hpp"

namespace sibyl {

std::string check_exchange(Collective collective, const PlanRequest& request);
PlanHeader plan_all_exchange(Collective collective, const PlanRequest& request,
                             std::span<Program> programs);
PlanHeader plan_one_exchange(Collective collective, const PlanRequest& request, Rank rank,
                             Program& program);
PlanHeader describe_exchange(Collective collective, const PlanRequest& request);

}  // namespace sibyl
