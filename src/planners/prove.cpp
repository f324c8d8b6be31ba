// The programs vector only grows: shrinking it would free the storage of the programs at its end.
#include "planners/prove.hpp"

namespace sibyl {

VerifyResult verify_algorithm(const Algorithm& algorithm, const PlanRequest& request,
                              ProofStorage& storage) {
  VerifyResult refused;
  refused.problem = check_request(algorithm, request);
  if (!refused.problem.empty()) return refused;
  const PlanHeader header = algorithm.describe(request);
  const auto ranks = static_cast<std::size_t>(request.ranks);
  if (storage.programs.size() < ranks) storage.programs.resize(ranks);
  for (Rank rank = 0; rank < request.ranks; ++rank) {
    algorithm.plan(request, rank, storage.programs[static_cast<std::size_t>(rank)]);
  }
  return storage.verifier.verify(header, std::span(storage.programs).first(ranks));
}

}  // namespace sibyl
