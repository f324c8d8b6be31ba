// The programs vector only grows: shrinking it would free the storage of the programs at its end.
#include "planners/prove.hpp"

namespace sibyl {

VerifyResult verify_algorithm(const Algorithm& algorithm, const PlanRequest& request,
                              ProofStorage& storage) {
  VerifyResult refused;
  refused.problem = check_request(algorithm, request);
  if (!refused.problem.empty()) return refused;
  const auto ranks = static_cast<std::size_t>(request.ranks);
  if (storage.programs.size() < ranks) storage.programs.resize(ranks);
  const auto programs = std::span(storage.programs).first(ranks);
  const PlanHeader header = plan_all_ranks(algorithm, request, programs);
  return storage.verifier.verify(header, programs);
}

}  // namespace sibyl
