// Problems of both kinds of cells; see arrival_problem.hpp.
#include "bench/arrival_problem.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "bench/block_counts.hpp"

namespace sibyl::bench {
namespace {

// Destinations are counted from the last rank: where only the first and the last block hold
// anything, they travel.
std::vector<int> reversed_rows(std::vector<int> pairs, int ranks) {
  for (auto row = pairs.begin(); row != pairs.end(); row += ranks) std::reverse(row, row + ranks);
  return pairs;
}

// The problem of an all-to-all: blocks as an irregular one has them, or all as large as the
// largest.
Problem exchange_problem(Operation operation, const Options& options, const ArrivalCell& cell,
                         int ranks) {
  const std::vector<int> pairs =
      reversed_rows(problem_counts(cell.counts, cell.block, ranks * ranks, options.seed), ranks);
  if (is_irregular(operation)) return Problem::of_pairs(pairs, ranks);
  Problem problem =
      Problem::of_equal(operation, options.root, *std::ranges::max_element(pairs), ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto row = pairs.begin() + static_cast<std::ptrdiff_t>(rank) * ranks;
    problem.unpadded[static_cast<std::size_t>(rank)] = *std::max_element(row, row + ranks);
  }
  return problem;
}

// The problem of the papers that cell.block names, as an operation sees it: irregular operations
// have its counts, regular ones blocks as large as the largest.
Problem paper_problem(Operation operation, const Options& options, const ArrivalCell& cell,
                      int ranks) {
  if (exchanges(operation)) return exchange_problem(operation, options, cell, ranks);
  const std::vector<int> counts = problem_counts(cell.counts, cell.block, ranks, options.seed);
  const auto equal = [&](int count) {
    return Problem::of_equal(operation, options.root, count, ranks);
  };
  if (is_irregular(operation)) return {operation, options.root, counts, {}, {}};
  if (gives(operation) == Collective::bcast) {
    return equal(std::accumulate(counts.begin(), counts.end(), 0));
  }
  if (combines(operation) && !scatters_sums(operation)) return equal(cell.block);
  Problem problem = equal(*std::max_element(counts.begin(), counts.end()));
  problem.unpadded = counts;
  return problem;
}

// Whether a cell names the bytes of all blocks together.
bool has_blocks(Operation operation) {
  return gathers(operation) || scatters(operation) || gathers_everywhere(operation) ||
         exchanges(operation) || scatters_sums(operation);
}

}  // namespace

Problem problem_of(Operation operation, const Options& options, const ArrivalCell& cell,
                   const Operator& op, int ranks) {
  if (cell.block > 0) return paper_problem(operation, options, cell, ranks);
  const auto element = static_cast<long long>(op.element_bytes());
  const auto elements = static_cast<int>(std::max(cell.bytes / element, 1LL));
  if (gives(operation) == Collective::alltoallv) {
    return Problem::of_pairs(
        reversed_rows(block_counts(cell.counts, static_cast<long long>(elements) * ranks,
                                   ranks * ranks, options.seed),
                      ranks),
        ranks);
  }
  if (is_irregular(operation)) {
    return {
        operation, options.root, block_counts(cell.counts, elements, ranks, options.seed), {}, {}};
  }
  // Equal blocks are the nearest that the total allows.
  const int count = has_blocks(operation) ? std::max((elements + ranks / 2) / ranks, 1) : elements;
  return Problem::of_equal(operation, options.root, count, ranks);
}

}  // namespace sibyl::bench
