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
  std::vector<int> counts;  // elements of each rank's block, or of each rank's vector
  // What the blocks of a padded operation hold before they are padded; empty for all others.
  std::vector<int> unpadded;
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
  std::vector<int> displacements;
  std::vector<char> send;
  std::vector<char> receive;
  std::vector<char> scratch;  // two vectors, for the hand-written loops

  bool is_root() const { return rank == problem.root; }
  std::vector<double> block_bytes() const;  // of all ranks

  // New contents of the send buffer, other ones for every iteration where the operator has them.
  void fill(std::uint64_t iteration);
  // Nothing that an earlier call has left may pass for a result.
  void clear();
  // Is the receive buffer what fill()'s contents must give? By definition of the collective, not by
  // comparison with another implementation. True where the buffer is not significant.
  bool right();
  bool has_result() const;  // is the receive buffer significant here

 private:
  void expect();  // the result of iteration 0, for operations that combine
  int contributors() const;
  char* block(std::vector<char>& buffer, int of);

  std::uint64_t iteration_ = 0;
  std::vector<char> expected_;
  std::vector<char> block_;
};

}  // namespace sibyl::bench
