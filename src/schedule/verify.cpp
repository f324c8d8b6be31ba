// The passes in turn: structure of each program, matching, execution, outputs. Each relies on what
// the ones before it have established.
#include "schedule/verify.hpp"

#include <algorithm>
#include <limits>

#include "schedule/semantics.hpp"

namespace sibyl {

bool Verifier::check_structure(const PlanHeader& header, std::span<const Program> programs,
                               VerifyResult& result) {
  first_step_.resize(programs.size() + 1);
  first_step_[0] = 0;
  std::uint64_t units = 0;
  for (std::size_t r = 0; r < programs.size(); ++r) {
    ProgramCounts counts;
    if (!structure_.check(header, static_cast<Rank>(r), programs[r], counts, result.problem)) {
      return false;
    }
    result.steps += programs[r].steps.size();
    if (result.steps > std::numeric_limits<std::uint32_t>::max() / 4) {
      result.problem = "the plan has too many steps";
      return false;
    }
    units += counts.units;
    if (units > std::numeric_limits<std::uint32_t>::max()) {
      result.problem = "the plan has too many units";
      return false;
    }
    first_step_[r + 1] = static_cast<std::uint32_t>(result.steps);
    result.messages += counts.sends;
    result.control_messages += counts.control_messages;
    result.units_sent += counts.units_sent;
    result.rounds = std::max(result.rounds, counts.rounds);
    result.max_operator_applications =
        std::max(result.max_operator_applications, counts.operator_applications);
    result.last_rank_operator_applications = counts.operator_applications;
  }
  if (result.rounds == header.rounds) return true;
  result.problem = "the plan says " + std::to_string(header.rounds) + " rounds, its messages use " +
                   std::to_string(result.rounds);
  return false;
}

bool Verifier::check_outputs(const PlanHeader& header, std::span<const Program> programs,
                             VerifyResult& result) {
  for (std::size_t r = 0; r < programs.size(); ++r) {
    const auto rank = static_cast<Rank>(r);
    const Extent output = output_of(header, rank, programs[r]);
    const Interval complete = output_value(header, rank);
    for (Unit u = output.first; u < output.end(); ++u) {
      const Value& value = run_.value(rank, Buffer::receive, u);
      if (value.is_exactly(complete, part_at(header, rank, Buffer::receive, u))) continue;
      result.problem = "rank " + std::to_string(rank) + " ends with an incomplete output: unit " +
                       std::to_string(u) + " of receive holds " + run_.describe(value);
      if (combines(header.collective)) {
        result.problem += ", not " + run_.describe(Value{.ranks = complete, .part = u});
      }
      return false;
    }
  }
  return true;
}

bool Verifier::check_expressions(const PlanHeader& header, VerifyResult& result) {
  if (header.collective != Collective::allreduce) return true;
  for (Unit u = 0; u < header.segments; ++u) {
    const std::uint64_t first = run_.value(0, Buffer::receive, u).expression;
    for (Rank rank = 1; rank < header.ranks; ++rank) {
      if (run_.value(rank, Buffer::receive, u).expression == first) continue;
      result.problem = "rank " + std::to_string(rank) + " combines the operands of part " +
                       std::to_string(u) + " otherwise than rank 0: their bits may differ";
      return false;
    }
  }
  return true;
}

VerifyResult Verifier::verify(const PlanHeader& header, std::span<const Program> programs) {
  VerifyResult result;
  result.problem = check_header(header, programs.size());
  if (!result.problem.empty() || !check_structure(header, programs, result)) return result;
  partner_.resize(first_step_.back());
  result.ok =
      matcher_.match(header, programs, first_step_, partner_, result.tags_used, result.problem) &&
      run_.run(header, programs, first_step_, partner_, result.problem) &&
      check_outputs(header, programs, result) && check_expressions(header, result) &&
      (header.collective != Collective::barrier ||
       awaited_.all_awaited(header, programs, first_step_, partner_, run_.order_of_completion(),
                            result.problem));
  return result;
}

VerifyResult verify(const Plan& plan) {
  Verifier verifier;
  return verifier.verify(plan);
}

}  // namespace sibyl
