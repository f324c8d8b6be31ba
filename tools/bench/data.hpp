// The buffers of one cell of the benchmark, their contents, and the check of a result.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/operation.hpp"
#include "bench/operators.hpp"

namespace sibyl::bench {

// What is communicated: the same on all ranks.
struct Problem {
  Operation operation = Operation::exscan;
  int root = 0;
  // Elements of each rank's vector, or of each rank's block; of alltoall, of each block of each
  // rank; of alltoallv, of what each rank sends in all.
  std::vector<int> counts;
  // What the blocks of a padded operation hold before they are padded, of an all-to-all a rank's
  // largest; empty for irregular operations.
  std::vector<int> unpadded;
  // Of alltoallv: from every rank to every rank, what rank 0 sends first.
  std::vector<int> pairs;

  // Vectors, or blocks, of `count` elements, and more where the operation wants whole blocks.
  static Problem of_equal(Operation operation, int root, int count, int ranks);
  // Of alltoallv: counts from the pairs.
  static Problem of_pairs(std::vector<int> pairs, int ranks);
};

// How blocks lie in a buffer, in elements.
struct Blocks {
  std::vector<int> counts;
  std::vector<int> displacements;

  explicit Blocks(std::vector<int> of);
  int total() const { return counts.empty() ? 0 : displacements.back() + counts.back(); }
};

// Buffers for one problem, the same for all contenders. Collective over MPI_COMM_WORLD.
class Data {
 public:
  Data(Problem problem, const Operator& op, int rank, int ranks);

  const Problem problem;
  const Operator& op;
  const int rank;
  const int ranks;
  const int count;          // of this rank
  const std::size_t bytes;  // of this rank's block or vector
  // The blocks of all ranks; of an all-to-all those that this rank sends, and those that it gets.
  const Blocks sent;
  const Blocks received;
  std::vector<char> send;
  std::vector<char> receive;
  std::vector<char> scratch;  // of the hand-written loops, and of compositions

  bool is_root() const { return rank == problem.root; }
  // As run_time_bound() takes them: of all ranks, or of all pairs.
  std::vector<double> bytes_for_bound() const;

  // New contents of the send buffer, other ones for every iteration where the operator has them.
  void fill(std::uint64_t iteration);
  // Nothing that an earlier call has left may pass for a result.
  void clear();
  // Is the receive buffer what fill()'s contents must give? By definition of the collective, not by
  // comparison with another implementation. True where the buffer is not significant.
  bool right();
  bool has_result() const;  // is the receive buffer significant here

 private:
  std::size_t bytes_of(int elements) const {
    return static_cast<std::size_t>(elements) * op.element_bytes();
  }
  std::size_t sent_bytes() const;
  std::size_t received_bytes() const;
  void expect();  // the result of iteration 0, for operations that combine
  int contributors() const;
  int content_of(int from, int to) const;
  bool holds(const char* at, int elements, int content);

  std::uint64_t iteration_ = 0;
  std::vector<char> expected_;
  std::vector<char> block_;
};

}  // namespace sibyl::bench
