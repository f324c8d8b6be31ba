// Buffers, contents and checks; see data.hpp.
#include "bench/data.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sibyl::bench {
namespace {

// Row `rank` of the table of pairs, or its column: what a rank sends to all, or gets from all.
std::vector<int> row(const std::vector<int>& pairs, int rank, int ranks) {
  const auto begin = pairs.begin() + static_cast<std::ptrdiff_t>(rank) * ranks;
  return {begin, begin + ranks};
}
std::vector<int> column(const std::vector<int>& pairs, int rank, int ranks) {
  std::vector<int> counts;
  for (auto at = static_cast<std::size_t>(rank); at < pairs.size();
       at += static_cast<std::size_t>(ranks)) {
    counts.push_back(pairs[at]);
  }
  return counts;
}

}  // namespace

Problem Problem::of_pairs(std::vector<int> pairs, int ranks) {
  Problem problem{Operation::alltoallv, 0, {}, {}, std::move(pairs)};
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<int> own = row(problem.pairs, rank, ranks);
    problem.counts.push_back(std::accumulate(own.begin(), own.end(), 0));
  }
  return problem;
}

Problem Problem::of_equal(Operation operation, int root, int count, int ranks) {
  const auto all = static_cast<std::size_t>(ranks);
  if (operation == Operation::alltoallv) return of_pairs(std::vector(all * all, count), ranks);
  const int elements = traits(operation).whole_blocks ? (count + ranks - 1) / ranks * ranks : count;
  Problem problem{operation, root, std::vector(all, elements), {}, {}};
  if (operation == Operation::barrier) problem.counts.assign(all, 0);
  problem.unpadded = problem.counts;
  return problem;
}

Blocks::Blocks(std::vector<int> of) : counts(std::move(of)), displacements(counts.size()) {
  std::exclusive_scan(counts.begin(), counts.end(), displacements.begin(), 0);
}

Data::Data(Problem wanted, const Operator& of, int own_rank, int all_ranks)
    : problem(std::move(wanted)),
      op(of),
      rank(own_rank),
      ranks(all_ranks),
      count(problem.counts[static_cast<std::size_t>(own_rank)]),
      bytes(static_cast<std::size_t>(count) * of.element_bytes()),
      sent(problem.pairs.empty() ? problem.counts : row(problem.pairs, own_rank, all_ranks)),
      received(problem.pairs.empty() ? problem.counts : column(problem.pairs, own_rank, all_ranks)),
      send(sent_bytes()),
      receive(received_bytes()) {
  if (problem.operation == Operation::exscan) scratch.resize(2 * bytes);
  if (combines(problem.operation)) expect();
  fill(0);
}

std::size_t Data::sent_bytes() const {
  const Operation operation = problem.operation;
  if (scatters(operation)) return is_root() ? bytes_of(sent.total()) : 0;
  const bool blocks = exchanges(operation) || scatters_sums(operation);
  return blocks ? bytes_of(sent.total()) : bytes;
}

// Of a reduce everywhere: SMPI's arrival_pattern_aware writes every rank's receive buffer, though
// MPI leaves it to the root's.
std::size_t Data::received_bytes() const {
  const Operation operation = problem.operation;
  if (gathers(operation)) return is_root() ? bytes_of(received.total()) : 0;
  const bool blocks = gathers_everywhere(operation) || exchanges(operation);
  return blocks ? bytes_of(received.total()) : bytes;
}

std::vector<double> Data::bytes_for_bound() const {
  std::vector<double> all;
  for (const int each : problem.pairs.empty() ? problem.counts : problem.pairs) {
    all.push_back(static_cast<double>(bytes_of(each)));
  }
  return all;
}

// The number under which an operator makes the contents of a block of an all-to-all.
int Data::content_of(int from, int to) const { return from * ranks + to; }

void Data::fill(std::uint64_t iteration) {
  iteration_ = iteration;
  const Operation operation = problem.operation;
  if (scatters_sums(operation)) {
    op.fill(send.data(), sent.total(), rank, iteration);
  } else if (!scatters(operation) && !exchanges(operation)) {
    op.fill(send.data(), count, rank, iteration);
  } else {
    for (int r = 0; !send.empty() && r < ranks; ++r) {
      const auto of = static_cast<std::size_t>(r);
      op.fill(send.data() + bytes_of(sent.displacements[of]), sent.counts[of],
              exchanges(operation) ? content_of(rank, r) : r, iteration);
    }
  }
}

void Data::clear() { std::fill(receive.begin(), receive.end(), '\0'); }

// Every rank folds the vectors of the ranks below it; where many ranks share a process (SMPI) and
// cannot pay that, a chain of messages carries the running result from rank to rank.
void Data::expect() {
  const bool reduces = !scans(problem.operation);
  if (gives(problem.operation) == Collective::reduce && !is_root()) return;
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
  const bool of_a_block = scatters_sums(problem.operation);
  const int first = of_a_block ? sent.displacements[static_cast<std::size_t>(rank)] : 0;
  expected_.resize(bytes);
  op.fill(expected_.data(), count, 0, 0, first);
  for (int r = 1; r < contributors(); ++r) {
    op.fill(next.data(), count, r, 0, first);
    PMPI_Reduce_local(expected_.data(), next.data(), count, op.type(), op.op());
    expected_.swap(next);
  }
}

// Ranks 0 .. contributors() - 1 are in this rank's result.
int Data::contributors() const {
  if (!scans(problem.operation)) return ranks;
  return problem.operation == Operation::scan ? rank + 1 : rank;
}

// Are there so many elements of this content?
bool Data::holds(const char* at, int elements, int content) {
  block_.resize(bytes_of(elements));
  op.fill(block_.data(), elements, content, iteration_);
  return op.same(block_.data(), at, elements);
}

bool Data::right() {
  const Operation operation = problem.operation;
  if (!has_result()) return true;
  if (scatters(operation)) return holds(receive.data(), count, rank);
  if (gives(operation) == Collective::bcast) {
    return holds(is_root() ? send.data() : receive.data(), count, problem.root);
  }
  if (gathers(operation) || gathers_everywhere(operation) || exchanges(operation)) {
    for (int r = 0; r < ranks; ++r) {
      const auto of = static_cast<std::size_t>(r);
      const int content = exchanges(operation) ? content_of(r, rank) : r;
      const char* at = receive.data() + bytes_of(received.displacements[of]);
      if (!holds(at, received.counts[of], content)) return false;
    }
    return true;
  }
  block_ = expected_;
  op.move_to(block_.data(), count, contributors(), iteration_);
  return op.same(block_.data(), receive.data(), count);
}

bool Data::has_result() const {
  const Operation operation = problem.operation;
  if (operation == Operation::exscan) return rank > 0;
  if (gives(operation) == Collective::reduce || gathers(operation)) return is_root();
  return operation != Operation::barrier;
}

}  // namespace sibyl::bench
