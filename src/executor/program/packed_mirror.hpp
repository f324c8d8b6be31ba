// A packed copy of the user's blocks, for a program that cuts blocks at a byte offset where the
// datatype has gaps.
#pragma once

#include "executor/executor.hpp"

namespace sibyl {

class PackedMirror {
 public:
  // Blocks [first, first + count) of `buffer`, which are at `bytes` from now on.
  void open(UserBuffer& buffer, Rank first, Rank count, std::size_t block_bytes, char* bytes);
  bool is_open() const { return bytes_ != nullptr; }
  void close() { bytes_ = nullptr; }
  // Return the first error code.
  int fill(MPI_Comm comm) { return move(comm, no_rank, true); }
  int empty(MPI_Comm comm, Rank except) { return move(comm, except, false); }

 private:
  int move(MPI_Comm comm, Rank except, bool fill);

  UserBuffer original_;
  char* bytes_ = nullptr;
  Rank first_ = 0;
  Rank count_ = 0;
  std::size_t block_bytes_ = 0;
};

}  // namespace sibyl
