// Two-level plans, node by node; see two_level.hpp.
#include "planners/two_level.hpp"

#include <memory>

#include "planners/node_plan.hpp"
#include "sibyl/arrival.hpp"

namespace sibyl {
namespace {

std::unique_ptr<NodePlan> plan_node(Collective collective, PlanBetweenNodes between,
                                    const PlanRequest& request, const Nodes& nodes, Rank node) {
  return partition_of(collective) == Partition::vector
             ? node_plan_of_vector(collective, between, request, nodes, node)
             : node_plan_of_blocks(between, request, nodes, node);
}

}  // namespace

PlanHeader plan_two_levels(Collective collective, PlanBetweenNodes between,
                           const PlanRequest& request, Rank rank, Program& program) {
  const Nodes nodes(request);
  const auto plan = plan_node(collective, between, request, nodes, nodes.node_of(rank));
  plan->write(rank, program);
  return plan->header();
}

PlanHeader plan_all_two_levels(Collective collective, PlanBetweenNodes between,
                               const PlanRequest& request, std::span<Program> programs) {
  const Nodes nodes(request);
  PlanHeader header;
  for (Rank node = 0; node < nodes.count(); ++node) {
    const auto plan = plan_node(collective, between, request, nodes, node);
    for (const Rank rank : nodes.members(node)) {
      plan->write(rank, programs[static_cast<std::size_t>(rank)]);
    }
    header = plan->header();
  }
  return header;
}

PlanHeader describe_two_levels(Collective collective, PlanBetweenNodes between,
                               const PlanRequest& request) {
  const Nodes nodes(request);
  return plan_node(collective, between, request, nodes, nodes.node_of(request.root))->header();
}

std::string check_two_levels(const PlanRequest& request) {
  if (!request.arrivals.empty()) {
    if (std::string wrong = check_times(request.arrivals, request.ranks); !wrong.empty()) {
      return wrong;
    }
  }
  const std::uint64_t blocks = static_cast<std::uint64_t>(request.ranks) * request.segments;
  if (blocks * request.lanes <= (1U << 30)) return {};
  return std::to_string(request.lanes) + " lanes of " + std::to_string(request.segments) +
         " segments are more than a plan can number (2^30 in all); ask for fewer segments";
}

}  // namespace sibyl
