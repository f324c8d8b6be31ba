// The one table of algorithms, joined from the rows of each collective (COLLECTIVE/table.hpp), and
// what holds for all of them: finding a row, planning all ranks.
#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>

#include "planners/allgather/table.hpp"
#include "planners/allreduce/table.hpp"
#include "planners/alltoall/table.hpp"
#include "planners/barrier/table.hpp"
#include "planners/bcast/table.hpp"
#include "planners/exscan/table.hpp"
#include "planners/gather/table.hpp"
#include "planners/gatherv/table.hpp"
#include "planners/reduce/table.hpp"
#include "planners/reduce_scatter/table.hpp"
#include "planners/scan/table.hpp"
#include "planners/scatter/table.hpp"
#include "planners/scatterv/table.hpp"
#include "sibyl/planners.hpp"

namespace sibyl {
namespace {

// The rows of all collectives, in the order of Collective.
template <class... Rows>
constexpr auto joined(const Rows&... rows) {
  std::array<Algorithm, (std::tuple_size_v<Rows> + ...)> all{};
  auto to = all.begin();
  ((to = std::ranges::copy(rows, to).out), ...);
  return all;
}

constexpr auto table =
    joined(exscan::algorithms, scan::algorithms, gather::algorithms, scatter::algorithms,
           gatherv::algorithms, scatterv::algorithms, reduce::algorithms, allreduce::algorithms,
           bcast::algorithms, reduce_scatter::irregular_algorithms, reduce_scatter::algorithms,
           allgather::algorithms, allgather::irregular_algorithms, alltoall::algorithms,
           alltoall::irregular_algorithms, barrier::algorithms);
static_assert(std::ranges::is_sorted(table, {}, &Algorithm::collective));

}  // namespace

std::span<const Algorithm> algorithms() { return table; }

std::span<const Algorithm> algorithms(Collective collective) {
  const auto [first, last] =
      std::ranges::equal_range(table, collective, {}, &Algorithm::collective);
  return {first, last};
}

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  for (const Algorithm& algorithm : algorithms(collective)) {
    if (algorithm.name == name) return &algorithm;
  }
  return nullptr;
}

const Algorithm* find_linear(Collective collective) {
  const std::span<const Algorithm> rows = algorithms(collective);
  const auto found = std::ranges::find_if(rows, &Algorithm::linear);
  return found == rows.end() ? nullptr : &*found;
}

Plan make_plan(const Algorithm& algorithm, const PlanRequest& request) {
  Plan plan;
  plan.programs.resize(static_cast<std::size_t>(request.ranks));
  plan.header = plan_all_ranks(algorithm, request, plan.programs);
  return plan;
}

PlanHeader plan_all_ranks(const Algorithm& algorithm, const PlanRequest& request,
                          std::span<Program> programs) {
  if (algorithm.plan_all != nullptr) return algorithm.plan_all(request, programs);
  // Planners of collectives with a root apply in_place to the root alone, those without to all.
  for (Rank rank = 0; rank < request.ranks; ++rank) {
    algorithm.plan(request, rank, programs[static_cast<std::size_t>(rank)]);
  }
  return algorithm.describe(request);
}

PlanHeader plan_one_rank(const Algorithm& algorithm, const PlanRequest& request, Rank rank,
                         Program& program) {
  if (algorithm.plan_one != nullptr) return algorithm.plan_one(request, rank, program);
  algorithm.plan(request, rank, program);
  return algorithm.describe(request);
}

}  // namespace sibyl
