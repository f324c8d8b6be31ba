// Problems of both kinds of cells; see arrival_problem.hpp.
#include "bench/arrival_problem.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "bench/block_counts.hpp"

namespace sibyl::bench {
namespace {

// The problem of the papers that cell.block names, as an operation sees it: irregular operations
// have its counts, regular ones blocks as large as the largest.
Problem paper_problem(Operation operation, const Options& options, const ArrivalCell& cell,
                      int ranks) {
  Problem problem{operation, options.root, {}, {}};
  const std::vector<int> counts = problem_counts(cell.counts, cell.block, ranks, options.seed);
  const int largest = *std::max_element(counts.begin(), counts.end());
  const auto fill = [&](int count) {
    problem.counts.assign(static_cast<std::size_t>(ranks), count);
  };
  if (traits(operation).irregular) {
    problem.counts = counts;
  } else if (operation == Operation::bcast) {
    fill(std::accumulate(counts.begin(), counts.end(), 0));
  } else if (traits(operation).combines) {
    fill(cell.block);
  } else {
    fill(largest);
  }
  const bool padded =
      operation == Operation::padded_gather || operation == Operation::padded_scatter;
  if (padded) problem.unpadded = counts;
  return problem;
}

}  // namespace

Problem problem_of(Operation operation, const Options& options, const ArrivalCell& cell,
                   const Operator& op, int ranks) {
  if (cell.block > 0) return paper_problem(operation, options, cell, ranks);
  const auto element = static_cast<long long>(op.element_bytes());
  const auto elements = static_cast<int>(std::max(cell.bytes / element, 1LL));
  Problem problem{operation, options.root, {}, {}};
  const bool blocks =
      gathers(operation) || scatters(operation) || operation == Operation::allgather;
  if (!blocks) {
    problem.counts.assign(static_cast<std::size_t>(ranks), elements);
  } else if (!traits(operation).irregular) {
    // Equal blocks, the nearest that the total allows.
    problem.counts.assign(static_cast<std::size_t>(ranks),
                          std::max((elements + ranks / 2) / ranks, 1));
    problem.unpadded = problem.counts;
  } else {
    problem.counts = block_counts(cell.counts, elements, ranks, options.seed);
  }
  return problem;
}

}  // namespace sibyl::bench
