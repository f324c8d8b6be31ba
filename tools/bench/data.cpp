// Buffers, contents and checks; see data.hpp.
#include "bench/data.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sibyl::bench {

Data::Data(Problem wanted, const Operator& of, int own_rank, int all_ranks)
    : problem(std::move(wanted)),
      op(of),
      rank(own_rank),
      ranks(all_ranks),
      count(problem.counts[static_cast<std::size_t>(own_rank)]),
      bytes(static_cast<std::size_t>(count) * of.element_bytes()),
      displacements(problem.counts.size()) {
  std::exclusive_scan(problem.counts.begin(), problem.counts.end(), displacements.begin(), 0);
  const std::size_t all =
      static_cast<std::size_t>(displacements.back() + problem.counts.back()) * op.element_bytes();
  const std::size_t at_root = is_root() ? all : 0;
  send.resize(scatters(problem.operation) ? at_root : bytes);
  if (problem.operation == Operation::allgather) {
    receive.resize(all);
  } else if (gathers(problem.operation)) {
    receive.resize(at_root);
  } else {
    // Of a reduce too: SMPI's arrival_pattern_aware writes every rank's receive buffer, though MPI
    // leaves it to the root's.
    receive.resize(bytes);
  }
  if (problem.operation == Operation::exscan) scratch.resize(2 * bytes);
  if (traits(problem.operation).combines) expect();
  fill(0);
}

std::vector<double> Data::block_bytes() const {
  std::vector<double> all;
  for (const int each : problem.counts) {
    all.push_back(static_cast<double>(each) * static_cast<double>(op.element_bytes()));
  }
  return all;
}

char* Data::block(std::vector<char>& buffer, int of) {
  return buffer.data() +
         static_cast<std::size_t>(displacements[static_cast<std::size_t>(of)]) * op.element_bytes();
}

void Data::fill(std::uint64_t iteration) {
  iteration_ = iteration;
  if (!scatters(problem.operation)) {
    op.fill(send.data(), count, rank, iteration);
    return;
  }
  for (int r = 0; is_root() && r < ranks; ++r) {
    op.fill(block(send, r), problem.counts[static_cast<std::size_t>(r)], r, iteration);
  }
}

void Data::clear() { std::fill(receive.begin(), receive.end(), '\0'); }

// Every rank folds the vectors of the ranks below it; where many ranks share a process (SMPI) and
// cannot pay that, a chain of messages carries the running result from rank to rank.
void Data::expect() {
  const bool reduces = !scans(problem.operation);
  if (problem.operation == Operation::reduce && !is_root()) return;
  std::vector<char> next(bytes);
  const bool chain = !reduces && static_cast<double>(ranks) * ranks * count > 1e9;
  if (chain) {
    std::vector<char> through(bytes);
    op.fill(through.data(), count, rank, 0);
    if (rank > 0) {
      PMPI_Recv(next.data(), count, op.type(), rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      PMPI_Reduce_local(next.data(), through.data(), count, op.type(), op.op());
    }
    if (rank + 1 < ranks) {
      PMPI_Send(through.data(), count, op.type(), rank + 1, 0, MPI_COMM_WORLD);
    }
    expected_ = problem.operation == Operation::scan ? through : next;
    return;
  }
  expected_.resize(bytes);
  op.fill(expected_.data(), count, 0, 0);
  for (int r = 1; r < contributors(); ++r) {
    op.fill(next.data(), count, r, 0);
    PMPI_Reduce_local(expected_.data(), next.data(), count, op.type(), op.op());
    expected_.swap(next);
  }
}

// Ranks 0 .. contributors() - 1 are in this rank's result.
int Data::contributors() const {
  if (!scans(problem.operation)) return ranks;
  return problem.operation == Operation::scan ? rank + 1 : rank;
}

bool Data::right() {
  if (scatters(problem.operation)) {
    block_.resize(bytes);
    op.fill(block_.data(), count, rank, iteration_);
    return op.same(block_.data(), receive.data(), count);
  }
  if (gathers(problem.operation) || problem.operation == Operation::allgather) {
    for (int r = 0; has_result() && r < ranks; ++r) {
      const int of = problem.counts[static_cast<std::size_t>(r)];
      block_.resize(static_cast<std::size_t>(of) * op.element_bytes());
      op.fill(block_.data(), of, r, iteration_);
      if (!op.same(block_.data(), block(receive, r), of)) return false;
    }
    return true;
  }
  if (!has_result()) return true;
  if (problem.operation == Operation::bcast) {
    block_.resize(bytes);
    op.fill(block_.data(), count, problem.root, iteration_);
    return op.same(block_.data(), receive.data(), count);
  }
  block_ = expected_;
  op.move_to(block_.data(), count, contributors(), iteration_);
  return op.same(block_.data(), receive.data(), count);
}

bool Data::has_result() const {
  if (problem.operation == Operation::exscan) return rank > 0;
  if (problem.operation == Operation::reduce || gathers(problem.operation)) return is_root();
  if (problem.operation == Operation::bcast) return !is_root();
  return true;
}

}  // namespace sibyl::bench
