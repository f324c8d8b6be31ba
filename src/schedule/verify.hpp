// Proves that a plan computes its collective, or says in one line why it does not.
//
// What is proved, for every rank:
//   - every output complete, nothing counted twice, operands in rank order where the plan keeps
//     order; no part or block in a wrong place; rank 0's receive of an exclusive scan untouched
//   - in an allreduce every rank ends with the same expression, brackets and order of operands
//     included, so that all have the same bits; no rank leaves a barrier before all have come
//   - sends and receives match one to one per (source, destination, ordinal), with equal unit
//     counts and equal rounds; ordinals below the tag span
//   - no deadlock under rendezvous semantics, with the port window and the staging pool, whatever
//     order the steps run in (see schedule/symbolic_execution.hpp)
//   - every slice within its buffer, no unit read that holds nothing, none written twice by one
//     step, no copy or combine onto its own source, the caller's send buffer never written
//   - a step open from the start touches nothing that needs this rank's arrival
//   - rounds never decrease along a program and are those that the header says; where the header
//     says one-ported, at most one send and one receive per rank and round
//   - `after` names earlier steps, peers are other ranks of the plan
//
// A Verifier keeps its storage from plan to plan; use one per thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedule/awaited.hpp"
#include "schedule/matching.hpp"
#include "schedule/structure.hpp"
#include "schedule/symbolic_execution.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

struct VerifyResult {
  bool ok = false;
  std::string problem;  // the first one: one line that names rank, step and round; empty if ok
  // The counts hold for a plan that is ok.
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;  // control messages included
  std::uint64_t control_messages = 0;
  std::uint64_t units_sent = 0;
  std::uint32_t rounds = 0;
  std::uint32_t tags_used = 0;  // the most messages from one rank to another
  // Applications of the operator to one unit; a vector of one segment is one unit.
  std::uint64_t max_operator_applications = 0;        // at any rank
  std::uint64_t last_rank_operator_applications = 0;  // at the highest rank
};

class Verifier {
 public:
  VerifyResult verify(const PlanHeader& header, std::span<const Program> programs);
  VerifyResult verify(const Plan& plan) { return verify(plan.header, plan.programs); }

  // For tests: every order must give the same result.
  void set_run_order(RunOrder order) { run_.order = order; }

 private:
  bool check_structure(const PlanHeader& header, std::span<const Program> programs,
                       VerifyResult& result);
  bool check_outputs(const PlanHeader& header, std::span<const Program> programs,
                     VerifyResult& result);
  bool check_expressions(const PlanHeader& header, VerifyResult& result);

  StructureCheck structure_;
  Matcher matcher_;
  SymbolicExecution run_;
  AwaitedRanks awaited_;
  std::vector<std::uint32_t> first_step_;  // of each rank, and the number of all steps
  std::vector<std::uint32_t> partner_;
};

// The same for one plan.
VerifyResult verify(const Plan& plan);

}  // namespace sibyl
